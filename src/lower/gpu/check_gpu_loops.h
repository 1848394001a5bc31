#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Checks that the loops over clusters, blocks, threads and lanes are nested so that each nest of
// blocks is a kernel. Returns the statement as it is. CompileError, at the directive, with the
// nest, if
//
// - the target has no GPU;
// - more than three loops over blocks, or three over threads and lanes, are nested;
// - something is between two loops over blocks, other than conditions and lets;
// - a loop over blocks is within another kernel, or one over threads or lanes is in none;
// - a loop over clusters has no loops over blocks within, is within one, or in another level of
//   clusters; the target has GPUs without clusters; what is computed in it is in no block;
// - a loop over threads is within one over lanes, or lanes are within lanes;
// - a Func that has loops over threads is computed within a loop over threads of another: each
//   thread would have values of its own, of which the others compute a part;
// - a kernel has a parallel loop or an asynchronous Func within it;
// - values are kept where a kernel cannot have them.
//
// The levels are those of Halide's language, and clusters of blocks.
ir::Stmt check_gpu_loops(const ir::Stmt &s, const Context &context);

}  // namespace tessera::lower
