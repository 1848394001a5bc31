#pragma once
#include "ir/expr.h"

namespace tessera::detail {

// Whether a cast of the value to the type leaves it as it is, as far as one can tell: false only
// for a constant that an integer type cannot hold.
bool may_fit(Type type, const ir::Expr &value);

}  // namespace tessera::detail
