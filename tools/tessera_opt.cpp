// Reads IR text, runs passes over it by name, and prints what comes out:
//
//     tessera-opt --pass "unroll loops" --pass simplify in.ir
//
// The input is statements, or a module, whose functions are worked on one by one. Passes run for
// the machine at hand, and know of no schedule: only of what the text says.
#include "base/error.h"
#include "base/large_stack.h"
#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/verifier.h"
#include "lower/lower.h"
#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <iterator>

namespace {

using namespace tessera;
using namespace tessera::ir;

const lower::Pass &find_pass(const std::string &name) {
    std::vector<std::string> names;
    for (const lower::Pass &pass : lower::passes()) {
        if (pass.name == name) return pass;
        names.emplace_back(pass.name);
    }
    std::string similar = closest_match(name, names);
    std::string hint = similar.empty() ? "--list shows all" : str("did you mean '", similar, "'?");
    throw CompileError(str("there is no pass '", name, "'; ", hint));
}

std::string read_all(const std::string &path) {
    if (path == "-") {
        return {std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
    }
    std::ifstream file(path);
    if (!file) throw CompileError(str("cannot read the file ", path));
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

struct Options {
    std::string path = "-";
    std::vector<std::string> passes;
    bool list = false, verify_input = true;
};

Stmt run_passes(Stmt s, const Options &options) {
    lower::Context context;
    context.target = get_host_target();
    if (options.verify_input) verify(s, "input");
    for (const std::string &name : options.passes) {
        s = find_pass(name).run(s, context);
        verify(s, name);
    }
    return s;
}

void run(const Options &options) {
    if (options.list) {
        for (const lower::Pass &pass : lower::passes()) std::cout << pass.name << '\n';
        return;
    }
    for (const std::string &name : options.passes) find_pass(name);
    std::string text = read_all(options.path);
    if (!is_module_text(text)) {
        std::cout << run_passes(parse_stmt(text), options);
        return;
    }
    Module module = parse_module(text);
    for (LoweredFunction &f : module.functions) f.body = run_passes(f.body, options);
    std::cout << module;
}

}  // namespace

int main(int argc, char **argv) {
    Options options;
    CLI::App app("Runs passes of the compiler over IR text, and verifies after each.");
    app.add_option("input", options.path, "File with IR text; - is the standard input");
    app.add_option("--pass", options.passes, "Run this pass; several run in the order given")
        ->allow_extra_args(false);
    app.add_flag("--list", options.list, "Print the names of the passes");
    app.add_flag("!--no-verify-input", options.verify_input, "Do not verify what is read");
    CLI11_PARSE(app, argc, argv);
    try {
        run_on_large_stack([&] { run(options); });
    } catch (const Error &e) {
        std::cerr << "tessera-opt: " << e.what() << '\n';
        return 1;
    }
    return 0;
}
