#pragma once
#include "ir/nodes.h"

namespace tessera::algebra {

// An expression that occurs more than once, and the name that it gets.
struct Lifted {
    Symbol name;
    ir::Expr value;
};

// The lets that the expressions, which are changed, need around them: those before may be used by
// those after.
std::vector<Lifted> lift(std::vector<ir::Expr> &roots);

ir::Stmt wrap(const std::vector<Lifted> &lets, ir::Stmt body);

}  // namespace tessera::algebra
