#pragma once
#include "algebra/facts.h"
#include <memory>

namespace tessera::algebra {

class Simplifier;

// An equal expression that is simpler, in a canonical form:
//   - sums of 32 and 64 bit signed integers are linear forms, each term once: (x + 3) - x -> 3
//   - comparisons of such are `<`, `<=`, `==`, `!=` with what both sides share cancelled
//   - constants are folded, with exactly the meaning that ir/nodes.h gives the operations
//   - what the facts decide is decided; lets that are unused or cheap are gone
// Simplifying again changes nothing. Takes time about linear in the number of distinct nodes.
//
// likely and promise_clamped stay around operands that are not constant. A min, max or select of
// which an operand is likely stays a min, max or select unless it can be decided, so that loop
// partitioning finds it.
Expr simplify(const Expr &e, const Facts &facts = {});

// While it lives, `simplify` of single expressions in this thread, without facts, remembers what it
// has simplified, and what it has found on the way: quicker where many expressions have parts in
// common, as regions do. Keeps them alive as long.
class SimplifierScope {
public:
    SimplifierScope();
    ~SimplifierScope();
    SimplifierScope(const SimplifierScope &) = delete;
    SimplifierScope &operator=(const SimplifierScope &) = delete;

private:
    std::unique_ptr<Simplifier> simplifier;
    Simplifier *around;
};

// Simplifies every expression of the statement likewise; a loop variable is known to lie in its
// range, the condition of an `if` or assertion to hold where it does. Moreover:
//   - a loop of constant extent <= 0 is a no-op; one of extent 1 is its body with the variable let
//   - an `if` of constant condition, or of two equal branches, is the branch
//   - no-ops in blocks, and what encloses nothing but a no-op, are gone (allocations stay)
//   - lets that are unused or cheap (constants, variables, variable + constant) are gone
Stmt simplify(const Stmt &s, const Facts &facts = {});

}  // namespace tessera::algebra
