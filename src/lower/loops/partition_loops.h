#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Splits loops so that what is marked likely is known to be so in most iterations: before it, a
// prologue, then the steady state without the tests, then an epilogue.
//
//     for x in [0, +w): f[x] = g[max(likely(x) - 1, 0)]
// ->
//     for x in [0, +lo): f[x] = g[max(x - 1, 0)]           (lo: min(1, w), and the like)
//     for x in [lo, +w - lo): f[x] = g[x - 1]
//
// Tests are `if`s and predicates on likely(condition), and min, max and select with an operand that
// is likely. A marker likely_if_innermost counts in loops without a loop inside. Partition::Never
// leaves a loop whole, Partition::Always splits it for unmarked conditions as well. A parallel loop
// stays one loop, with an `if` inside. Prologues and epilogues are left as they are, without
// markers, so that nested loops do not multiply; except that loops over vectors, of which only the
// last may have lanes under a guard, are split there as well. But a loop of a few iterations leaves
// tests that depend on longer loops within it to those, which are split in all of its parts. Throws
// CompileError, by Halide's rules, if a loop with Partition::Always is left whole.
ir::Stmt partition_loops(const ir::Stmt &s, const Context &context);

}  // namespace tessera::lower
