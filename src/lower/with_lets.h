#pragma once
#include "ir/nodes.h"
#include <utility>
#include <vector>

namespace tessera::lower {

// Names and what they stand for, in an order in which each uses only earlier ones.
using Lets = std::vector<std::pair<Symbol, ir::Expr>>;

// The lets around a body, the first one outermost.
//
//     {a: 1, b: a + 1}, f[b] = 0      ->      let a = 1
//                                             let b = a + 1
//                                             f[b] = 0
ir::Stmt with_lets(const Lets &lets, ir::Stmt body);

}  // namespace tessera::lower
