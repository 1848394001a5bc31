#pragma once
#include "base/large_stack.h"
#include "ir/expr.h"
#include "lang/location.h"
#include <algorithm>
#include <string>
#include <vector>

namespace tessera::detail {

constexpr int deepest_expr = 20000;        // that is compiled
constexpr int deepest_on_any_stack = 500;  // that can be walked by recursion everywhere

// Runs f(), which walks these expressions by recursion, where there is room for that. `what`: who
// has them, for the CompileError if they have too many operations within one another.
template<typename F>
auto with_room_for(const std::vector<ir::Expr> &exprs, const std::string &what, Location at, F f) {
    int depth = 0;
    for (const ir::Expr &e : exprs) {
        if (e.defined()) depth = std::max(depth, int(e->depth));
    }
    if (depth > deepest_expr) {
        throw CompileError(at, str(what, ": there are more than ", deepest_expr,
                                   " operations within one another; compute parts of them in "
                                   "Funcs of their own, or sum in an RDom"));
    }
    return depth <= deepest_on_any_stack ? f() : with_large_stack(f);
}

}  // namespace tessera::detail
