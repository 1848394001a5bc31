#pragma once
#include "ir/expr.h"
#include "lang/location.h"
#include <concepts>

namespace tessera {

// An expression, and the line where it stands: as a function's first parameter, for its errors.
struct WrittenExpr : ir::Expr {
    template<std::convertible_to<ir::Expr> T>
    WrittenExpr(const T &e, Location at = Here::current()) : ir::Expr(e), at(at) {}
    Location at;
};

}  // namespace tessera
