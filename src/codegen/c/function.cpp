#include "codegen/c/c_source.h"
#include "codegen/c/printer.h"
#include "codegen/c/types.h"
#include "codegen/compile.h"
#include "codegen/statements.h"
#include "lower/finish/outline_bodies.h"
#include <algorithm>

namespace tessera::codegen {

std::string to_c_source(const ir::Module &module, const Target &target) {
    // A C compiler's time is its user's: loops in a row stay where they are.
    return c::Printer(target).print(lower::outline_bodies(module, {.outline_loops = false}));
}

namespace c {
namespace {

// Warnings about code that no person has written are of no use.
constexpr const char *head = R"(#include "tessera_runtime.h"
#include <math.h>
#include <string.h>

#if defined(__FAST_MATH__)
#error "this file needs NaNs, infinities and sums in their order: compile it without -ffast-math"
#endif
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wtype-limits"
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#endif
)";

constexpr const char *strict = R"(
/* A product and a sum are two operations. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__) && !defined(__STRICT_ANSI__)
#pragma GCC optimize("fp-contract=off")
#endif
)";

}  // namespace

void Printer::check_names(const ir::Module &module) {
    for (const LoweredFunction &function : module.functions) {
        if (!function.is_pipeline()) continue;
        LinkNames names = link_names(function, target);
        const std::string &name = names.function;
        if (is_library_function(name) || name.starts_with("tessera_")) {
            throw CompileError(str("a function in C source cannot be called ", name,
                                   ": C's headers or the runtime have a function of that name; "
                                   "give it another one"));
        }
        for (const std::string &one : {names.function, names.argv, names.metadata}) {
            if (taken.insert(one).second) continue;
            throw CompileError(str("two functions in one C source are called ", one));
        }
        pipelines.insert(name);
    }
}

std::string Printer::new_name(const std::string &wanted) {
    std::string name = wanted;
    for (int i = 1; !taken.insert(name).second; i++) name = str(wanted, i);
    return name;
}

std::string Printer::print(const ir::Module &module) {
    lowered = &module;
    check_names(module);
    for (const LoweredFunction &function : module.functions) {
        if (!function.is_pipeline()) continue;
        define(function);
        define_argv(function);
        define_metadata(function);
    }
    for (const std::string &name : pipelines) {
        if (!prelude.has(name)) continue;
        throw CompileError(str("a function in C source cannot be called ", name,
                               ": a type has that name; give it another one"));
    }
    std::string text =
        str("/* ", module.name, ", for ", target, ": written by Tessera.\n",
            " * To be linked with Tessera's runtime and the C library's math. */\n", head);
    if (uses_atomics) text += "#include <stdatomic.h>\n";
    if (is_strict) text += strict;
    text += str("\n", prelude.text());
    for (const auto &[name, prototype] : externs) text += prototype;
    text += prototypes;
    return text + (externs.empty() ? "" : "\n") + constants + functions;
}

void Printer::define(const LoweredFunction &pipeline) {
    FunctionState state;
    state.name = link_names(pipeline, target).function;
    f = &state;
    state.names.open_block();
    std::string signature = prototype(pipeline);
    bind_arguments(pipeline);
    coordinates = Coordinates(lowered->with_invoked(pipeline));
    run_function_body(pipeline.body);
    functions += function_text(signature, state);
    f = nullptr;
}

std::string Printer::function_text(const std::string &signature, const FunctionState &state) {
    return str(signature, " {\n", state.has_error ? "    int error;\n" : "", state.slots,
               state.lines, "    return 0;\n}\n\n");
}

void Printer::line(const std::string &text) {
    f->lines += std::string(size_t(f->indent) * 4, ' ') + text + "\n";
}

void Printer::open(const std::string &first) {
    line(first.empty() ? "{" : first + " {");
    f->indent++;
    f->names.open_block();
}

void Printer::close() {
    f->names.close_block();
    f->indent--;
    line("}");
}

void Printer::block(const std::string &first, const std::function<void()> &body) {
    MemoScope forget(*this);
    open(first);
    body();
    close();
}

std::string Printer::captured(const std::function<void()> &body) {
    MemoScope forget(*this);
    std::string before = std::exchange(f->lines, {});
    f->indent++;
    f->names.open_block();
    body();
    f->names.close_block();
    f->indent--;
    std::swap(before, f->lines);
    return before;
}

// Prints the body in a block of its own, unless it is one line.
void Printer::statement(const std::function<void()> &body) {
    std::string lines = captured(body);
    if (std::count(lines.begin(), lines.end(), '\n') <= 1) {
        f->lines += lines.empty() ? lines : lines.substr(4);
        return;
    }
    line("{");
    f->lines += lines;
    line("}");
}

// A variable of the program.
std::string Printer::declare(Symbol s, const std::string &type, const std::string &initial) {
    std::string name = f->names.of(s);
    f->types[name] = type;
    line(str(declaration(type, name, true), " = ", initial, ";"));
    return name;
}

// One that is set later.
std::string Printer::variable(const std::string &type, const std::string &word) {
    std::string name = f->names.numbered(word);
    f->types[name] = type;
    line(declaration(type, name, false) + ";");
    return name;
}

// One that lives as long as the function runs.
std::string Printer::slot(const std::string &type, const std::string &word,
                          const std::string &array) {
    std::string name = f->names.numbered(word);
    f->slots += str("    ", declaration(type, name + array, false), ";\n");
    return name;
}

// ---- Failure ----

std::string Printer::unwind_label(size_t depth) {
    std::string &label = f->cleanups[depth - 1].label;
    if (label.empty()) label = f->names.numbered("unwind");
    return label;
}

// Undoes the innermost `depth` cleanups and returns what `error` holds.
void Printer::jump_out(size_t depth) {
    line(depth == 0 ? "return error;" : str("goto ", unwind_label(depth), ";"));
}

void Printer::fail(const std::string &code) {
    if (f->cleanups.empty()) return line("return " + code + ";");
    f->has_error = true;
    line("error = " + code + ";");
    jump_out(f->cleanups.size());
}

void Printer::fail_unless_zero(const std::string &call) {
    if (f->cleanups.empty()) {
        std::string code = f->names.numbered("code");
        line(str("const int ", code, " = ", call, ";"));
        return line(str("if (", code, " != 0) return ", code, ";"));
    }
    f->has_error = true;
    line(str("error = ", call, ";"));
    line(str("if (error != 0) goto ", unwind_label(f->cleanups.size()), ";"));
}

void Printer::with_cleanup(const std::function<void()> &undo, const std::function<void()> &body) {
    f->cleanups.push_back({undo, ""});
    body();
    Cleanup cleanup = f->cleanups.back();
    f->cleanups.pop_back();
    undo();
    if (cleanup.label.empty()) return;
    std::string done = f->names.numbered("done");
    line("goto " + done + ";");
    line(cleanup.label + ":;");
    undo();
    jump_out(f->cleanups.size());
    line(done + ":;");
}

// Growing places are freed at the end, in whatever way that is reached.
void Printer::run_function_body(const Stmt &body) {
    if (!has_growing_places(body)) return run(body);
    with_cleanup(
        [this] {
            for (const GrowingPlace &p : f->places) {
                line(str("tessera_free(user_context, ", p.pointer, ");"));
            }
        },
        [&] { run(body); });
}

}  // namespace c
}  // namespace tessera::codegen
