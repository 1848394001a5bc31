#include "aot/command_line.h"
#include "aot/write_outputs.h"
#include "driver/files.h"
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <thread>

namespace tessera {
namespace {

struct Command {
    GeneratorJob job;
    std::string runtime;  // the name of a library with the runtime alone
    std::vector<std::string> plugins;
    int timeout = 0;  // in seconds; 0: none
    bool verbose = false;
    bool help = false;
};

constexpr const char *usage =
    R"(usage: generator -g name -o folder [-f function] [-n file_base] [-e types] [-r runtime]
                 [-p plugins] [-t seconds] [-v 0|1] target=... [name=value ...]

Compiles the pipeline of a generator and writes files of it.
  -g name       the generator; may be left out if there is only one
  -o folder     where the files go
  -f function   the compiled function's name; the generator's name without it
  -n file_base  the files' name, before their extensions; the function's name without it
  -e types      what to write, separated by commas; static_library,c_header without it
  -r runtime    writes the runtime alone, as a static library of this name
  -p plugins    shared libraries that are loaded first, separated by commas: of autoschedulers
  -s name       as autoscheduler=name
  -t seconds    how long it may take before it is given up; for ever without it
  -v 1          prints the names of the files that are written
  target=t      such as x86-64-linux-avx2, or host; several, separated by commas, become one
                library that chooses the best one when it runs
  name=value    sets a parameter; input.type=uint8, input.dim=2, input.size=3 say what an input
                or output leaves open
  autoscheduler=name, autoscheduler.option=value
                one that a plugin or the generator's program has added makes the schedule
  -h, --help    this text

)";

std::vector<std::string> split_at_commas(const std::string &text) {
    std::vector<std::string> words;
    std::istringstream stream(text);
    for (std::string word; std::getline(stream, word, ',');) words.push_back(word);
    return words;
}

[[noreturn]] void refuse_output(const std::string &word) {
    std::vector<std::string> all;
    for (const driver::OutputFile &f : driver::output_files()) all.push_back(f.name);
    if (word.empty())
        throw CompileError(str("-e: no type of file is named; there are ", join(all)));
    throw CompileError(str("-e: nothing is called ", word, choices_text(word, all)));
}

std::set<OutputFileType> parse_outputs(const std::string &text) {
    std::set<OutputFileType> types;
    for (const std::string &word : split_at_commas(text)) {
        const auto type = driver::output_file_type(word);
        if (!type) refuse_output(word);
        types.insert(*type);
    }
    if (types.empty()) refuse_output(text);
    return types;
}

void add_value(Command &command, const std::string &name, const std::string &value) {
    for (const auto &[known, text] : command.job.params) {
        if (known == name) throw CompileError(str(name, " is given twice"));
    }
    command.job.params.emplace_back(name, value);
}

void add_param(Command &command, const std::string &word, size_t equals) {
    std::string name = word.substr(0, equals), value = word.substr(equals + 1);
    if (name != "target") return add_value(command, name, value);
    for (const std::string &t : split_at_commas(value)) command.job.targets.emplace_back(t);
}

int parse_number(const std::string &option, const std::string &text, int largest) {
    int number = -1;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size() && number >= 0 &&
        number <= largest) {
        return number;
    }
    throw CompileError(str(option, " wants a whole number from 0 to ", largest, ", not ", text));
}

Command parse(std::span<const std::string> arguments) {
    Command command;
    std::string outputs = "static_library,c_header";
    std::string plugins, scheduler, timeout = "0", verbose = "0", gradient = "0";
    std::map<std::string, std::string *> options = {{"-g", &command.job.generator},
                                                    {"-o", &command.job.folder},
                                                    {"-f", &command.job.function},
                                                    {"-n", &command.job.file_base},
                                                    {"-e", &outputs},
                                                    {"-r", &command.runtime},
                                                    {"-p", &plugins},
                                                    {"-s", &scheduler},
                                                    {"-t", &timeout},
                                                    {"-v", &verbose},
                                                    {"-d", &gradient}};
    std::set<std::string> given;
    for (size_t i = 0; i < arguments.size(); i++) {
        const std::string &word = arguments[i];
        if (word == "-h" || word == "--help") {
            command.help = true;
        } else if (auto option = options.find(word); option != options.end()) {
            if (i + 1 == arguments.size()) throw CompileError(str(word, " wants a value after it"));
            if (!given.insert(word).second) throw CompileError(str(word, " is given twice"));
            *option->second = arguments[++i];
        } else if (size_t equals = word.find('=');
                   word[0] != '-' && equals != std::string::npos && equals > 0) {
            add_param(command, word, equals);
        } else {
            throw CompileError(str("\"", word, "\" is no option and no name=value; see --help"));
        }
    }
    command.job.outputs = parse_outputs(outputs);
    command.plugins = split_at_commas(plugins);
    command.timeout = parse_number("-t", timeout, 1'000'000);
    command.verbose = parse_number("-v", verbose, 1) != 0;
    if (!scheduler.empty()) add_value(command, "autoscheduler", scheduler);
    if (parse_number("-d", gradient, 1) != 0)
        throw CompileError("-d 1: derivatives of Funcs are not there yet");
    return command;
}

// Ends the process where what it is for takes longer than this.
class TimeLimit {
public:
    explicit TimeLimit(int seconds) {
        if (seconds == 0) return;
        waiting = std::jthread([this, seconds](const std::stop_token &stop) {
            std::unique_lock lock(mutex);
            changed.wait_for(lock, stop, std::chrono::seconds(seconds), [] { return false; });
            if (stop.stop_requested()) return;
            std::cerr << "error: it takes longer than " << seconds << " seconds (-t)\n"
                      << std::flush;
            std::_Exit(1);
        });
    }

private:
    std::mutex mutex;
    std::condition_variable_any changed;
    std::jthread waiting;
};

std::string described(const ArgumentShape &s, bool is_output) {
    const char *kind = s.kind == GeneratorArgumentKind::Scalar     ? "number"
                       : s.kind == GeneratorArgumentKind::Function ? "Func"
                                                                   : "Buffer";
    std::string text = kind;
    // generate() decides what an output leaves open.
    if (!s.types.empty())
        text += str(" of ", join(s.types));
    else if (!is_output)
        text += str(" of the type that ", s.name, ".type= says");
    if (s.kind != GeneratorArgumentKind::Scalar && s.dimensions != ArgumentShape::open) {
        text += str(", ", s.dimensions, s.dimensions == 1 ? " dimension" : " dimensions");
    } else if (s.dimensions == ArgumentShape::open && !is_output) {
        text += str(", dimensions as ", s.name, ".dim= says");
    }
    if (!s.is_array) return text;
    if (s.size != ArgumentShape::open) return text + str(", ", s.size, " of them");
    return text + (is_output ? ", several" : str(", as many as ", s.name, ".size= says"));
}

void print_generator(std::ostream &out, const std::string &name, const GeneratorSource &source) {
    out << name << "\n";
    auto generator = source.create(name, GeneratorContext());
    // The additions of configure() may depend on types that are open.
    try {
        generator->configure_now();
    } catch (const CompileError &) {
        out << "  (and what is added when its inputs have types)\n";
    }
    for (const GeneratorParamBase *p : generator->generator_params()) {
        out << "  parameter " << p->name() << "=" << p->value_text() << ": " << p->type_text()
            << "\n";
    }
    for (const GeneratorInput *i : generator->generator_inputs()) {
        out << "  input " << i->shape().name << ": " << described(i->shape(), false) << "\n";
    }
    for (const GeneratorOutput *o : generator->generator_outputs()) {
        out << "  output " << o->shape().name << ": " << described(o->shape(), true) << "\n";
    }
}

struct AddedCommand {
    std::string description;
    GeneratorCommand command = nullptr;
};
std::map<std::string, AddedCommand> &added_commands() {
    static std::map<std::string, AddedCommand> all;
    return all;
}

std::string &added_help() {
    static std::string text;
    return text;
}

void print_help(std::ostream &out, const GeneratorSource &source) {
    out << usage << added_help();
    for (const auto &[word, added] : added_commands()) {
        out << "generator " << word << " ...: " << added.description << " (" << word
            << " --help)\n";
    }
    out << "\nTypes of files:\n";
    for (const driver::OutputFile &f : driver::output_files()) {
        out << "  " << f.name << " (" << f.extension << ")\n";
    }
    out << "\nGenerators:\n\n";
    for (const std::string &name : source.names()) print_generator(out, name, source);
}

void write_runtime(const Command &command) {
    if (command.job.targets.size() != 1) {
        throw CompileError("-r wants one target=, that of the machine it is for");
    }
    driver::write_runtime_library(command.job.targets[0],
                                  command.job.folder + "/" + command.runtime + ".a");
}

void run(Command command, std::ostream &out, const GeneratorSource &source) {
    if (command.job.folder.empty()) throw CompileError("-o folder is missing; see --help");
    if (command.job.targets.empty() && command.job.outputs == std::set{OutputFileType::cpp_stub}) {
        command.job.targets.push_back(get_host_target());  // a stub is for all
    }
    if (command.job.targets.empty()) throw CompileError("target= is missing; see --help");
    if (!command.runtime.empty()) write_runtime(command);
    std::vector<std::string> all = source.names();
    if (command.job.generator.empty()) {
        if (!command.runtime.empty()) return;
        if (all.size() != 1) {
            throw CompileError(str("-g name is missing; there are ", join(all)));
        }
        command.job.generator = all[0];
    }
    command.job.source = &source;
    for (const std::string &path : write_generator_files(command.job)) {
        if (command.verbose) out << path << "\n";
    }
}

}  // namespace

int run_generator_command(std::span<const std::string> arguments, std::ostream &out,
                          std::ostream &errors, const GeneratorSource &source) {
    try {
        if (const auto added = added_commands().find(arguments.empty() ? "" : arguments[0]);
            added != added_commands().end()) {
            return added->second.command(arguments.subspan(1), out, source);
        }
        Command command = parse(arguments);
        for (const std::string &plugin : command.plugins) load_plugin(plugin, Location());
        if (command.help || arguments.empty()) {
            print_help(out, source);
            return command.help ? 0 : 1;
        }
        const TimeLimit limit(command.timeout);
        run(command, out, source);
        return 0;
    } catch (const std::exception &e) {
        errors << "error: " << e.what() << "\n";
    } catch (...) {
        errors
            << "error: the generator or its autoscheduler threw something that is no exception\n";
    }
    return 1;
}

void add_generator_command(const std::string &word, const std::string &description,
                           GeneratorCommand command) {
    added_commands()[word] = {description, command};
}

void add_generator_help(const std::string &text) { added_help() += text; }

int generator_main(int argc, char **argv, const GeneratorSource &source) {
    std::vector<std::string> arguments(argv + (argc > 0), argv + argc);
    return run_generator_command(arguments, std::cout, std::cerr, source);
}

}  // namespace tessera
