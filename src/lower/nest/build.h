#pragma once
#include "lower/nest/regions.h"
#include "lower/program_context.h"

namespace tessera::lower {

struct LoopNests {
    // Everything that is computed, in loops over the regions that the lets bind.
    ir::Stmt body;
    // The regions that are computed at the root, to be bound around the body.
    std::vector<Binding> lets;
    std::vector<ir::Stmt> asserts;
    // The box that the pipeline reads of each image, or reads and writes of each output, in terms
    // of the lets. An image that is never read has no entry.
    std::unordered_map<Symbol, Box> buffers;
};

// Builds the loops of all functions in their places, with the storage of each (Realize) and the
// bounds of all regions. Fills in the context's regions and loops.
// Throws CompileError where a schedule and the uses of a function do not fit together, or a region
// has no bound.
//
//     out(x) = f(x) + f(x + 1), f computed at out, x   ->
//     for out.x in [out.x.min, +...):
//       let f.x.min = out.x
//       let f.x.max = f.x.min + 1
//       realize f over [f.x.min, +2]:
//         produce f: for f.x ...
//         consume f: out(out.x) = f(out.x) + f(out.x + 1)
LoopNests build_nests(ProgramContext &context);

}  // namespace tessera::lower
