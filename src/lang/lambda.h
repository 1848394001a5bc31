#pragma once
#include "lang/func.h"

namespace tessera {

// A Func without a name: lambda(x, y, x + y).
inline Func lambda(const Expr &e, Location at = Here::current()) {
    Func f("lambda" + detail::unique_name(""));
    f(std::vector<Expr>{_}, at) = e;
    return f;
}
inline Func lambda(const Var &x, const Expr &e, Location at = Here::current()) {
    Func f("lambda" + detail::unique_name(""));
    f(std::vector<Expr>{x}, at) = e;
    return f;
}
inline Func lambda(const Var &x, const Var &y, const Expr &e, Location at = Here::current()) {
    Func f("lambda" + detail::unique_name(""));
    f(std::vector<Expr>{x, y}, at) = e;
    return f;
}
inline Func lambda(const Var &x, const Var &y, const Var &z, const Expr &e,
                   Location at = Here::current()) {
    Func f("lambda" + detail::unique_name(""));
    f(std::vector<Expr>{x, y, z}, at) = e;
    return f;
}
inline Func lambda(const Var &x, const Var &y, const Var &z, const Var &w, const Expr &e,
                   Location at = Here::current()) {
    Func f("lambda" + detail::unique_name(""));
    f(std::vector<Expr>{x, y, z, w}, at) = e;
    return f;
}
inline Func lambda(const Var &x, const Var &y, const Var &z, const Var &w, const Var &v,
                   const Expr &e, Location at = Here::current()) {
    Func f("lambda" + detail::unique_name(""));
    f(std::vector<Expr>{x, y, z, w, v}, at) = e;
    return f;
}

}  // namespace tessera

namespace tessera::ir {  // as in lang/operators.h

using tessera::lambda;

}  // namespace tessera::ir
