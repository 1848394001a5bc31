#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Takes dimensions of one element out of the ring buffers of kernels that have more than two
// dimensions, so that what is left is columns, rows and slots. Ring buffers of one dimension get a
// row. Extents that are not known get the largest value that they have, or as many elements as
// instructions read.
//
//     realize s: {float16} in GPUShared            realize s: {float16} in GPUShared
//             async copies 2 over                          async copies 2 over
//             [0, +64], [0, +8], [z, +1], [0, +2]  ->      [0, +64], [0, +8], [0, +2]
//     s(x, y, z, k % 2) = a(x, y + b*8, z)         s(x, y, k % 2) = a(x, y + b*8, z)
ir::Stmt drop_unit_dimensions(const ir::Stmt &s, const Context &context);

}  // namespace tessera::lower
