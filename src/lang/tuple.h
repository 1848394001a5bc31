#pragma once
#include "ir/written_expr.h"
#include "lang/location.h"
#include <vector>

namespace tessera {

using ir::Expr;
class FuncRef;

// Several values of a Func at one point.
class Tuple {
public:
    explicit Tuple(std::vector<Expr> values, Location at = Here::current());
    explicit Tuple(const ir::WrittenExpr &value) : Tuple(std::vector<Expr>{value}, value.at) {}
    Tuple(std::initializer_list<Expr> values, Location at = Here::current())
        : Tuple(std::vector<Expr>(values), at) {}
    template<typename... Args>
    Tuple(const ir::WrittenExpr &a, const Expr &b, const Args &...rest)
        : Tuple(std::vector<Expr>{a, b, Expr(rest)...}, a.at) {}
    // All values of a Func at a point.
    Tuple(const FuncRef &f);

    size_t size() const { return exprs.size(); }
    Expr &operator[](WrittenIndex i);  // CompileError if there is none
    const Expr &operator[](WrittenIndex i) const;
    const std::vector<Expr> &as_vector() const { return exprs; }

private:
    std::vector<Expr> exprs;
};

}  // namespace tessera
