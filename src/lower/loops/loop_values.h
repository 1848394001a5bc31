#pragma once
#include "algebra/bounds.h"
#include <unordered_set>
#include <vector>

namespace tessera::lower {

// Finds the values that the variables of the loops around a statement may have. They are found for
// those that questions depend on: the ends of a loop may be long, and few questions name its
// variable.
class LoopValues {
public:
    // The loop, inside of those before, runs over [first, first + count).
    void push(Symbol name, const ir::Expr &first, const ir::Expr &count);
    void pop();
    // Knows the loops that the expression depends on, and maybe others.
    const algebra::IntervalScope &scope_of(const ir::Expr &e);

private:
    struct Loop {
        Symbol name;
        ir::Expr first, count;
        bool is_known = false;
    };
    std::vector<size_t> needed_by(const ir::Expr &e) const;

    std::vector<Loop> loops;
    algebra::IntervalScope scope;
};

}  // namespace tessera::lower
