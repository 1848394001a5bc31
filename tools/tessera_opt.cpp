// Reads IR text, runs passes over it by name, and prints what comes out:
//
//     tessera-opt --pass "unroll loops" --pass simplify in.ir
//
// The input is statements, or a module, whose functions are worked on one by one but by passes over
// modules. Passes run for the machine at hand or for --target, and know of no schedule: only of
// what the text says.
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

// A pass over statements, which is run on each function of a module, or one over modules.
struct AnyPass {
    const lower::Pass *of_statements = nullptr;
    const lower::ModulePass *of_modules = nullptr;
};

AnyPass find_pass(const std::string &name) {
    std::vector<std::string> names;
    for (const lower::Pass &pass : lower::passes()) {
        if (pass.name == name) return {.of_statements = &pass};
        names.emplace_back(pass.name);
    }
    for (const lower::ModulePass &pass : lower::module_passes()) {
        if (pass.name == name) return {.of_modules = &pass};
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
    std::string target = "host";
    bool list = false, verify_input = true;
};

class Passes {
public:
    explicit Passes(const Options &options) : options(options) {
        context.target = Target(options.target);
    }
    Stmt run(Stmt s) const {
        if (options.verify_input) verify(s, "input");
        for (const std::string &name : options.passes) {
            const lower::Pass *pass = find_pass(name).of_statements;
            if (!pass) throw CompileError(str("the pass '", name, "' wants a module"));
            s = run(*pass, {"", {}, s});
        }
        return s;
    }
    Module run(Module m) const {
        for (const LoweredFunction &f : m.functions) {
            if (options.verify_input) verify(f.body, "input");
        }
        for (const std::string &name : options.passes) {
            const AnyPass pass = find_pass(name);
            if (pass.of_modules) {
                m = pass.of_modules->run(m, context.target);
                verify(m, name);
                continue;
            }
            for (LoweredFunction &f : m.functions) f.body = run(*pass.of_statements, f);
        }
        return m;
    }

private:
    Stmt run(const lower::Pass &pass, const LoweredFunction &f) const {
        Stmt result = pass(f, context);
        verify(result, pass.name);
        return result;
    }

    const Options &options;
    lower::Context context;
};

void run(const Options &options) {
    if (options.list) {
        for (const lower::Pass &pass : lower::passes()) std::cout << pass.name << '\n';
        for (const lower::ModulePass &pass : lower::module_passes()) std::cout << pass.name << '\n';
        return;
    }
    for (const std::string &name : options.passes) find_pass(name);
    std::string text = read_all(options.path);
    if (is_module_text(text)) {
        std::cout << Passes(options).run(parse_module(text));
    } else {
        std::cout << Passes(options).run(parse_stmt(text));
    }
}

}  // namespace

int main(int argc, char **argv) {
    Options options;
    CLI::App app("Runs passes of the compiler over IR text, and verifies after each.");
    app.add_option("input", options.path, "File with IR text; - is the standard input");
    app.add_option("--pass", options.passes, "Run this pass; several run in the order given")
        ->allow_extra_args(false);
    app.add_option("--target", options.target,
                   "Machine that the passes run for, as host-cuda-cuda_capability_90");
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
