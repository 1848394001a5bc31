#pragma once
#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/verifier.h"
#include "lower/context.h"
#include <doctest/doctest.h>

namespace tessera::lower {

// A pass without a name.
struct PassRun {
    PassRun(Pass::OnBody run) : pass("this pass", run) {}
    PassRun(Pass::OnFunction run) : pass("this pass", run) {}
    Pass pass;
};

// What the pass makes of a pipeline without arguments.
inline ir::Stmt apply(const PassRun &run, const ir::Stmt &body, const Context &context = {}) {
    return run.pass({"f", {}, body}, context);
}

// The text of what the pass makes of this text; the result is checked by the verifier.
inline std::string run(const PassRun &pass, std::string_view text, const Context &context = {}) {
    ir::Stmt after = apply(pass, ir::parse_stmt(text), context);
    ir::verify(after, "this pass");
    return ir::to_string(after);
}

// The same of a function: what it is called with stands in parentheses, as in the text of a module.
inline std::string run_on_function(const PassRun &run, std::string_view arguments,
                                   std::string_view body, const Context &context = {}) {
    ir::Module m = ir::parse_module(str("module \"m\"\nfunc \"f\"(", arguments, "):\n", body));
    return ir::to_string(run.pass(m.functions[0], context));
}

// A text as the printer writes it.
inline std::string printed(std::string_view text) { return ir::to_string(ir::parse_stmt(text)); }

}  // namespace tessera::lower
