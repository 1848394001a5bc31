#include "common/options.h"

#include <CLI/CLI.hpp>

#include <charconv>
#include <cstdio>
#include <exception>
#include <string_view>

namespace tessera::apps {

namespace {

bool parse_number(std::string_view text, int &number) {
    const char *end = text.data() + text.size();
    auto [rest, error] = std::from_chars(text.data(), end, number);
    return error == std::errc() && rest == end && number > 0;
}

// "768x512", or "512" for a square.
void parse_size(const std::string &text, Options &options) {
    size_t cross = text.find('x');
    std::string width = text.substr(0, cross);
    std::string height = cross == std::string::npos ? text : text.substr(cross + 1);
    if (!parse_number(width, options.width) || !parse_number(height, options.height)) {
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
