#pragma once
#include "ir/nodes.h"
#include <optional>

namespace tessera::lower {

// An update `buffer[index] = buffer[index] op operand` by an associative and commutative operation.
struct Accumulation {
    ReduceOp op = ReduceOp::Add;
    ir::Expr operand;  // reads nothing of the buffer
};

// The store seen so, if it is one. Sums of floats count as associative unless `strict_float`.
std::optional<Accumulation> as_accumulation(const ir::Store &store, bool strict_float);
// Returns the same for an update of a Func of one value. Sums of floats count as associative.
std::optional<Accumulation> as_accumulation(const ir::Provide &update);

// The value that changes nothing: 0 for a sum.
ir::Expr identity_of(ReduceOp op, Type type);

ir::Expr combine(ReduceOp op, const ir::Expr &a, const ir::Expr &b);

// The body of an Atomic without the lets that only name what its stores write, so that an update of
// several values is seen for what it is. The body itself if the stores read each other's buffers.
ir::Stmt without_lets_of_updates(const ir::Stmt &body);

// Returns true if the body of an Atomic reads of each buffer that it stores to only the element
// that it stores, and stores only one. Then it has nothing to do with the same body for other
// elements.
bool updates_one_place(const ir::Stmt &body);

// Returns true if it depends on elements of the buffers that the body stores to if something is
// stored.
bool tests_what_it_stores(const ir::Stmt &body);

}  // namespace tessera::lower
