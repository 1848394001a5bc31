#pragma once
#include "lower/program_context.h"
#include <functional>

namespace tessera::lower {

// Returns true if it calls or loads anything, or has effects.
bool reads_memory(const ir::Expr &e);
// One condition for all lanes, without effects.
bool is_usable_condition(const ir::Expr &e);

// Returns the condition that both hold; what the second one reads may be there only where the first
// holds.
ir::Expr guarded(const ir::Expr &first, const ir::Expr &second);

// The condition, weakened to what is known at another place: it holds there wherever the
// condition does. Conjunctions and alternatives are taken apart; `part` says what is known of the
// rest, true where it is nothing. Operands that were guarded by more than is left are not read.
ir::Expr weakened(const ir::Expr &condition, const std::function<ir::Expr(const ir::Expr &)> &part);

// A call or a variable in an expression, and when it is evaluated, in terms of what is bound
// around the expression.
struct Evaluated {
    ir::Expr expr, when;
};

// All calls of functions and images, and variables, each node once. Both values of a select or
// if_then_else are evaluated only when they are chosen, the value of a let where its variable is;
// an index always, if it would lead out of a buffer without being computed, as a select evaluates
// both values. In an expression of more than 256 nodes, or where two lets bind one name, all are
// evaluated always.
std::vector<Evaluated> evaluation_of(const ir::Expr &e);

}  // namespace tessera::lower
