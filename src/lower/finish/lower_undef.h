#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Stores of `undef`, the element that is there already, are not done.
//
//     f[x] = undef()                        ->      no_op
//     f[x] = select(x < 3, undef(), g[x])   ->      if !(x < 3): f[x] = g[x]
//
// What is computed from undef in any other way is undef itself.
ir::Stmt lower_undef(const ir::Stmt &s, const Context &context);

// When there is a value, and which then. An undefined `when`: never.
struct DefinedPart {
    ir::Expr when, value;
};
DefinedPart defined_part(const ir::Expr &e);

}  // namespace tessera::lower
