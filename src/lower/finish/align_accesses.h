#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Notes at accesses to buffers whose memory is promised to be aligned (`set_host_alignment`) what
// their indices are multiples of. Kernels have rules of their own: lower/gpu/align_vectors.h.
//
//     in[ramp(x*8, 1, 8)]     ->     in[ramp(x*8, 1, 8) aligned(8, 0)]
ir::Stmt align_accesses(const ir::LoweredFunction &pipeline, const Context &context);

}  // namespace tessera::lower
