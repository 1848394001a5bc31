#include "common/options.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>

namespace tessera::apps {

namespace {

// "768x512", or "512" for a square.
void parse_size(const std::string &text, Options &options) {
    int used = 0;
    int found = std::sscanf(text.c_str(), "%dx%d%n", &options.width, &options.height, &used);
    if (found == 1) {
        options.height = options.width;
        used = int(text.find_first_not_of("0123456789"));
    }
    bool whole = used == int(text.size()) || used == int(std::string::npos);
    if (found < 1 || !whole || options.width <= 0 || options.height <= 0) {
        throw CLI::ValidationError("--size", "'" + text + "' is not a size such as 768x512");
    }
}

}  // namespace

int run_app(const AppInfo &info, int argc, char **argv,
            const std::function<void(const Options &)> &body) {
    Options options;
    options.app = info.name;
    std::string size = info.default_size;
    CLI::App cli(info.description, info.name);
    if (info.needs_input) cli.add_option("input", options.input, "PNG to read")->required();
    cli.add_option("output", options.output, "PNG to write");
    cli.add_option("--size", size, "work at this size, WIDTHxHEIGHT");
    cli.add_flag("--check", options.check, "compare with the plain C++ reference");
    cli.add_option("--repeat", options.repeat, "run this often and print the best time")
        ->check(CLI::PositiveNumber);
    try {
        cli.parse(argc, argv);
        if (!size.empty()) parse_size(size, options);
        body(options);
    } catch (const CLI::Error &error) {
        return cli.exit(error);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s: %s\n", info.name.c_str(), error.what());
        return 1;
    }
    return 0;
}

}  // namespace tessera::apps
