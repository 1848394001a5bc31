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

// A text as the printer writes it.
inline std::string printed(std::string_view text) { return ir::to_string(ir::parse_stmt(text)); }

}  // namespace tessera::lower
