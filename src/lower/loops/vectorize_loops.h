#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Runs all iterations of a loop marked `vectorized` at once, as the lanes of vectors.
//
//     vectorized for i in [0, +8): f[i] = g[i * 2]   ->   f[ramp(0, 1, 8)] = g[ramp(0, 2, 8)]
//
// - Nested ones make vectors of as many lanes as both have together, the inner loop's fastest.
// - An `if` on a condition that differs between iterations becomes a predicate on loads and stores;
//   what cannot be predicated runs one iteration after the other.
// - A serial loop inside whose bounds differ runs as often as the longest needs, under a predicate.
// - Storage allocated inside gets an innermost dimension, the iteration.
// - Below Atomic, `f[i] = f[i] + g` with the same i in all iterations becomes one update by a
//   VectorReduce of the g, for operations that are associative. Other updates run one by one.
//
// For a loop whose extent is not a constant, but has a constant upper bound, the lanes behind its
// end are masked. Throws CompileError if it has none.
ir::Stmt vectorize_loops(const ir::LoweredFunction &pipeline, const Context &context);

}  // namespace tessera::lower
