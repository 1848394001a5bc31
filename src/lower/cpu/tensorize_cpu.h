#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Replaces nests of loops that are tensorized by instructions of a CPU (ir/cpu_instructions.h) by
// operations of the machine around them, and lays out their sums, which are in MemoryType::Tile, as
// the instruction has them in its registers:
//
//     realize f in Tile over [x0, +32], [y0, +16]:      realize f in Stack over [0, +512]:
//       produce f:                                        tensor(hold, "tdpbssd", 16, 32, ...):
//         for y: for x: f(x, y) = 0                         tensor(zero, "tdpbssd", 16, 32, ...):
//         for ko:                                             for y: for x: f(...) = 0
//           tensorized for y:                       ->      for ko:
//             tensorized for x:                               tensor(multiply, "tdpbssd", ...):
//               tensorized for ki:                              for y: for x: for ki:
//                 f(x, y) = f(x, y) + a(k, y) * b(x, k)           f(...) = f(...) + a * b
//
// What is stored in the pipeline and read as B in an order that the instruction does not take is
// stored in one that it takes. Tile registers are configured around the outermost loops on one
// thread that use them.
//
// CompileError if no instruction asked for does what the loops do.
ir::Stmt tensorize_cpu(const ir::Stmt &s, const Context &context);

}  // namespace tessera::lower
