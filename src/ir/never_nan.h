#pragma once
#include "ir/expr.h"
#include <functional>
#include <unordered_map>

namespace tessera::ir {

// Says of floats whether they are known not to be a NaN, by what they are made of. min and max are
// none if one of their operands is none. Nothing is found out about sums, products and quotients,
// which infinities make NaNs of.
class NeverNan {
public:
    using Leaf = std::function<bool(const Expr &)>;
    // `leaf`: of a Variable that no Let within the expression binds, a Load or a Call.
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
