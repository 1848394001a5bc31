#include "options.h"
#include "base/error.h"
#include "function.h"
#include <CLI/CLI.hpp>
#include <iostream>

namespace tessera::run {
namespace {

constexpr const char *arguments_help = R"(Arguments of the pipeline, in any order:
  scalar=VALUE       a number, true or false; default or estimate for what the pipeline says of it;
                     estimate,default for the first of the two that it says
  input=FILE         a PNG, PGM, PPM, TIFF, NPY or MAT file, known by its contents
  input=zero:SIZE    zeros
  input=constant:VALUE:SIZE
  input=identity:SIZE         1 where the first two coordinates are equal, else 0
  input=random:SEED:SIZE      integers of the whole range, floats from 0 to 1; without SEED: any
                              seed, which is printed
      SIZE is [640,480,3]; auto, what the outputs need; estimate, what the pipeline estimates;
      or estimate_then_auto. It may be left out: auto.
  output=FILE        a .png, .pgm, .ppm, .tif, .tiff, .npy or .mat file. What is not written is
                     computed all the same.

Inputs begin at the coordinates 0, or where the pipeline needs them to begin if they lie elsewhere.
Outputs begin at 0, and are as large as the inputs of known size allow; along dimensions where they
allow any size, as large as the first of them that has the dimension. Where there is no such input,
they are as large as the pipeline estimates.

What is converted, with a note:
  A picture (PNG, PGM, PPM, TIFF) stands for the range from 0 to 1 where its samples are unsigned or
  floats: its largest value becomes 1 of a float, or the largest value of an unsigned type, rounded.
  Arguments of signed types take the samples as they are. Missing channels are made: grey is
  repeated, alpha is opaque; channels that the pipeline does not need are left out; colour becomes
  grey (0.299 R + 0.587 G + 0.114 B) for an argument of two dimensions.
  Elements of NPY and MAT files keep their values; floats may be rounded, and an integer has to be
  one that the argument can hold. Dimensions of extent 1 are added or left out. Dimension 0 is
  NumPy's last index and MATLAB's first.
  Outputs are written to NPY and MAT files as they are; as pictures with 8 or 16 bits (TIFF: of
  their own type): floats from 0 to 1 and wider unsigned integers with 16 bits, signed integers as
  they are, with 16 bits.
)";

void add_argument(Options &options, const std::string &word, bool wants_library) {
    size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0) {
        if (wants_library && options.library.empty()) {
            options.library = word;
            return;
        }
        throw RuntimeError(str("'", word, "' is no name=value; see --help"));
    }
    std::string name = word.substr(0, equals);
    if (!options.values.emplace(name, word.substr(equals + 1)).second) {
        throw RuntimeError(str(name, " is given twice"));
    }
}

// "name=file", "name:[1,2]"
void add_named(std::map<std::string, std::string> &map, const std::string &option,
               const std::string &text, char separator) {
    size_t at = text.find(separator);
    std::string name = at == std::string::npos ? "" : text.substr(0, at);
    if (!map.emplace(name, at == std::string::npos ? text : text.substr(at + 1)).second) {
        throw RuntimeError(str(option, " is given twice", name.empty() ? "" : str(" for ", name)));
    }
}

// CLI11 only says that it does not know an option.
std::string unknown_option(const CLI::App &app, const std::string &word) {
    std::vector<std::string> known;
    for (const CLI::Option *option : app.get_options())
        known.push_back("--" + option->get_lnames()[0]);
    std::string name = word.substr(0, word.find('='));
    return str("there is no option ", name, suggestion(name, known), "; see --help");
}

class HelpFormatter final : public CLI::Formatter {
public:
    explicit HelpFormatter(bool wants_library) : wants_library(wants_library) {}
    std::string make_usage(const CLI::App *, std::string) const override {
        return wants_library ? "usage: tessera-run LIBRARY [name=value ...] [options]\n"
                               "LIBRARY is a .a, .o or .so file.\n"
                             : "usage: [name=value ...] [options]\n";
    }
    std::string make_footer(const CLI::App *app) const override { return app->get_footer(); }

private:
    bool wants_library;
};

struct Texts {
    std::vector<std::string> output_extents, checks;
    std::string benchmarks;
    std::string default_scalars, default_buffers;
    bool estimate_all = false;
};

void add_options(CLI::App &app, Options &o, Texts &t) {
    app.add_flag("--describe", o.describe, "Prints the functions and their arguments");
    app.add_option("--name", o.name, "The function, where there are several");
    app.add_option(
           "--output_extents", t.output_extents,
           "The outputs' extents: [640,480,3], estimate, estimate_then_auto or auto; of one "
           "output: NAME:[640,480,3]")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->allow_extra_args(false);
    app.add_flag("--default_input_buffers{zero:auto}", t.default_buffers,
                 "What fills inputs that are not given; zero:auto without a value");
    app.add_flag("--default_input_scalars{both}", t.default_scalars,
                 "The value of scalars that are not given; estimate,default without a value");
    app.add_flag("--estimate_all", t.estimate_all,
                 "Scalars, sizes of inputs, which are random (seed 0), and of outputs, as the "
                 "pipeline estimates them");
    app.add_option("--check", t.checks,
                   "NAME=FILE: fails, with exit code 2, unless the output equals the file")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->allow_extra_args(false);
    app.add_option("--tolerance", o.tolerance, "How far a value may be from that of --check");
    app.add_option("--relative_tolerance", o.relative_tolerance,
                   "... and how far in parts of the expected value, which are added");
    app.add_option("--benchmarks", t.benchmarks,
                   "all: runs the function many times, and prints "
                   "the time of the quickest");
    app.add_option("--benchmark_min_time", o.benchmark_min_time, "How many seconds at least");
    app.add_option("--benchmark_min_iters", o.benchmark_min_iterations, "How many runs at least");
    app.add_option("--benchmark_max_iters", o.benchmark_max_iterations, "How many runs at most");
    app.add_flag("--track_memory", o.track_memory,
                 "Prints how much memory the pipeline allocates at most; it runs slower");
    app.add_flag("--parsable_output", o.parsable,
                 "Prints figures as lines of function, key, value");
    app.add_flag("--quiet", o.quiet, "Prints no notes");
    app.add_flag("--verbose", o.verbose, "Prints the size of each buffer, and what is done");
}

void use_texts(Options &o, const Texts &t, const CLI::App &app) {
    for (const std::string &e : t.output_extents) {
        add_named(o.output_extents, "--output_extents", e, ':');
    }
    for (const std::string &c : t.checks) {
        if (c.find('=') == std::string::npos) {
            throw RuntimeError(str("--check wants OUTPUT=FILE, not '", c, "'"));
        }
        add_named(o.checks, "--check", c, '=');
    }
    if (!t.benchmarks.empty() && t.benchmarks != "all") {
        throw RuntimeError(str("--benchmarks can only be all, not '", t.benchmarks, "'"));
    }
    if (!(o.tolerance >= 0 && o.relative_tolerance >= 0)) {
        throw RuntimeError("a tolerance is not negative");
    }
    o.benchmark = !t.benchmarks.empty();
    if (t.estimate_all) {
        o.default_scalars = "estimate,default";
        o.default_buffers = "random:0:estimate_then_auto";
        o.output_extents.emplace("", "estimate_then_auto");
    }
    // CLI11 takes no comma in a flag's own value.
    if (app.count("--default_input_scalars")) {
        o.default_scalars = t.default_scalars == "both" ? "estimate,default" : t.default_scalars;
    }
    if (app.count("--default_input_buffers")) o.default_buffers = t.default_buffers;
}

}  // namespace

ParsedOptions parse_options(int argc, char **argv, bool wants_library) {
    ParsedOptions parsed;
    Options &o = parsed.options;
    Texts texts;
    CLI::App app("Runs a compiled pipeline.");
    app.formatter(std::make_shared<HelpFormatter>(wants_library));
    app.footer(arguments_help);
    app.allow_extras();
    add_options(app, o, texts);
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success &e) {
        parsed.exit_code = app.exit(e);
        return parsed;
    } catch (const CLI::Error &e) {
        throw RuntimeError(str(e.what(), "; see --help"));
    }
    for (const std::string &word : app.remaining()) {
        if (word.starts_with("-")) throw RuntimeError(unknown_option(app, word));
        add_argument(o, word, wants_library);
    }
    use_texts(o, texts, app);
    if (wants_library && o.library.empty()) {
        throw RuntimeError("the library is missing: a .a, .o or .so file; see --help");
    }
    return parsed;
}

}  // namespace tessera::run
