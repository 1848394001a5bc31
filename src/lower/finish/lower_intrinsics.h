#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Spells out the intrinsics whose meaning is the same arithmetic on every machine:
// - lerp(zero, one, weight), rounded exactly;
// - random: the hash of its operands, as ir/random_hash.h defines it;
// - target_query: its answer for the Context's target;
// - fast_exp and fast_log: polynomials; but not in kernels, whose machine has instructions for
// them;
// - unsafe_promise_clamped, if the target has CheckUnsafePromises: a check of the promise.
//
//     random(7):uint32     ->     ((7:uint32 ^ ...) * ...) ...
//
// Throws CompileError for a query that is not known.
ir::Stmt lower_intrinsics(const ir::Stmt &s, const Context &context);
ir::Expr lower_intrinsics(const ir::Expr &e, const Context &context);

// Returns what is near exp(x) and log(x) of float32s.
ir::Expr lower_fast_exp(const ir::Expr &x);
ir::Expr lower_fast_log(const ir::Expr &x);

// Returns the meaning of a lerp of these operands.
ir::Expr lower_lerp(Type t, const ir::Expr &zero, const ir::Expr &one, const ir::Expr &weight);

}  // namespace tessera::lower
