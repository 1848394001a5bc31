#pragma once
#include "base/error.h"
#include "ir/expr.h"
#include <concepts>

namespace tessera::ir {

// An expression, and the line where it stands: as the first parameter of an operator, or of a
// function of any number of operands, for its errors. Other functions take an Expr and end with the
// line, so that C++ prefers them to a program's template of the same name, which they equal.
// Inside the library the line is that of the library itself, which no error shows.
struct WrittenExpr : Expr {
    template<typename T>
    requires(!std::same_as<std::remove_cvref_t<T>, WrittenExpr> && std::convertible_to<T, Expr>)
    WrittenExpr(T &&e, Location at = std::source_location::current())
        : Expr(implicitly(static_cast<T &&>(e))), at(at) {}
    Location at;

private:
    static Expr implicitly(Expr e) { return e; }  // a double is none of its own accord
};

}  // namespace tessera::ir
