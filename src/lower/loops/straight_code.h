#pragma once
#include "ir/mutator.h"
#include <optional>
#include <vector>

namespace tessera::lower {

// The loads of a statement without loops, conditions and values of which only one is evaluated:
// each runs if one of them does. None if it is not such a statement, or if a symbol means two
// things in it.
std::optional<std::vector<ir::Expr>> loads_of_straight_code(const ir::Stmt &s);

// Rewrites the widest statements that loads_of_straight_code() knows the loads of.
class StraightCodeMutator : public ir::Mutator {
    virtual ir::Stmt rewrite(const ir::Stmt &s, const std::vector<ir::Expr> &loads) = 0;

    template<typename T> ir::Stmt within(const T &node);
    ir::Stmt visit(const ir::Block &s) override;
    ir::Stmt visit(const ir::LetStmt &s) override;
    ir::Stmt visit(const ir::Store &s) override;

protected:
    using ir::Mutator::visit;
};

}  // namespace tessera::lower
