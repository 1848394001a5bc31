#pragma once
#include "lower/with_lets.h"

namespace tessera::lower {

// Says when an expression has a value, and which. An operation of `undef` is undefined, and so is a
// choice whose condition is, or that chooses it.
//
//     1 - select(x < 3, g[x], undef())      ->      when: x < 3, value: 1 - g[x]
//
// Both may be evaluated on their own: what both would evaluate, and must not evaluate twice or does
// not want to, gets a name in `lets`, as do all lets of the expression. These may be evaluated
// wherever the expression was.
struct DefinedPart {
    ir::Expr when;   // false: never, true: always
    ir::Expr value;  // where `when` does not hold, it may not be there to be evaluated
};
DefinedPart defined_part(const ir::Expr &e, Lets &lets);

bool has_undef(const ir::Expr &e);

// The same as one expression: undef, the value, or a select of the two.
ir::Expr defined_or_undef(const ir::Expr &e, Lets &lets);

}  // namespace tessera::lower
