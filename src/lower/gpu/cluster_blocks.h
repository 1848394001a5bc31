#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Makes one loop over the blocks of a cluster of all that stand within a loop over clusters, and
// deals out what is stored there to the blocks:
//
//     gpu_cluster for c in [0, +n):            gpu_cluster for c in [0, +n):
//         allocate f: float32[64] in Auto          gpu_block for rank in [0, +4):
//         gpu_block for u in [0, +2):                  allocate f: float32[32] in GPUShared
//             f[u*32] = ...                              if rank < 2:
//         gpu_block for v in [0, +4):      ->              let u = rank
//             out[v] = f[v % 2 * 32]                       f[u*32 - rank*32] = ...
//                                                        gpu_cluster_barrier()
//                                                        let v = rank
//                                                        out[v] = cluster_load(
//                                                            address_of(f[v % 2 * 32 % 32]),
//                                                            v % 2 * 32 / 32)
//                                                        gpu_cluster_barrier()
//
// Element e of storage is in the memory of block e / p: p is found from the elements that each
// block writes, tried one by one. A block accesses what is certainly its own as before. All blocks
// meet between what one of them writes and another one reads, and before memory is given up that
// others may still read.
//
// CompileError at a directive where the blocks of a cluster are not known or are more than 8, where
// blocks do not write neighbouring pieces of one size, and where a stage reads what another block
// writes in the same stage.
ir::Stmt cluster_blocks(const ir::Stmt &s, const Context &context);

}  // namespace tessera::lower
