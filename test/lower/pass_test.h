#pragma once
#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/verifier.h"
#include "lower/context.h"
#include <doctest/doctest.h>

namespace tessera::lower {

using Pass = ir::Stmt (*)(const ir::Stmt &, const Context &);

// The text of what the pass makes of this text; the result is checked by the verifier.
inline std::string run(Pass pass, std::string_view text, const Context &context = {}) {
    ir::Stmt after = pass(ir::parse_stmt(text), context);
    ir::verify(after, "this pass");
    return ir::to_string(after);
}

// The same of a function: what it is called with stands in parentheses, as in the text of a module.
inline std::string run_on_function(Pass pass, std::string_view arguments, std::string_view body,
                                   Context context = {}) {
    ir::Module m = ir::parse_module(str("module \"m\"\nfunc \"f\"(", arguments, "):\n", body));
    context.arguments = m.functions[0].args;
    m.functions[0].body = pass(m.functions[0].body, context);
    return ir::to_string(m.functions[0].body);
}

// A text as the printer writes it.
inline std::string printed(std::string_view text) { return ir::to_string(ir::parse_stmt(text)); }

}  // namespace tessera::lower
