#pragma once
#include "ir/expr.h"
#include <functional>
#include <unordered_map>

namespace tessera::ir {

// Tells of a float whether it is known to be a number, which is to say no NaN, by what it is made
// of. A min or max is a number if one of its operands is. Sums, products and quotients are never
// known to be numbers, since those of infinities may be NaNs.
class NeverNan {
public:
    using Leaf = std::function<bool(const Expr &)>;
    // `leaf` tells whether a Load, a Call, or a Variable that no Let within the expression binds is
    // a number.
    explicit NeverNan(Leaf leaf) : leaf(std::move(leaf)) {}
    bool operator()(const Expr &e);

private:
    bool find(const Expr &e);
    bool of_call(const IntrinsicCall &c);
    Leaf leaf;
    std::unordered_map<const ExprNode *, std::pair<Expr, bool>> known;
    std::unordered_map<Symbol, bool> lets;
};

}  // namespace tessera::ir
