#pragma once
#include "lower/context.h"
#include <unordered_map>

namespace tessera::lower {

// Under which conditions the stores of a statement may change what is in memory.
//
//     f[x] = f[x] + select(c, e, 0)          ->      c
//     f[x] = select(c, f[x], e)              ->      !c
//
// Knows sums, differences, products, minima and maxima with the old value, and logic; in as many
// lanes as are stored. A store counts as a change unless the conditions of selects say otherwise.
class StoreEffects {
public:
    explicit StoreEffects(const ir::Stmt &s);

    // In terms of what is bound around the store; true where nothing is known.
    ir::Expr condition_of(const ir::Store &store) const;
    // The second store does what the first one did.
    void replace(const ir::Store &before, const ir::Store &after);

private:
    std::unordered_map<const ir::Store *, ir::Expr> conditions;
    std::vector<ir::Stmt> kept;  // so that no other store comes to their place
};

}  // namespace tessera::lower
