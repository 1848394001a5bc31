#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Reads each field of a buffer argument that is used anywhere once, at the top: every
// BufferProperty of an argument becomes a variable.
//
//     for x in [out.min[0], +out.extent[0]): ...     let out_min_0 = out.min[0]
//                                                ->  let out_extent_0 = out.extent[0]
//                                                    for x in [out_min_0, +out_extent_0): ...
//
// Statements before the first use (a test that the argument is not null, say) stay before the lets.
ir::Stmt unpack_buffers(const ir::Stmt &s, const Context &context);

}  // namespace tessera::lower
