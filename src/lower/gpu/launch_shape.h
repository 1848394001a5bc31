#pragma once
#include "ir/nodes.h"
#include <vector>

namespace tessera::lower {

// The arguments of a launch of a nest of loops over blocks, and what its blocks share.
struct LaunchShape {
    // They stand in the order of launch_argument_names, in terms of what the host knows.
    std::vector<ir::Expr> values;
    // The largest allocation of a known size in the memory of a block; null if there is none.
    const ir::Allocate *largest = nullptr;
    int64_t bytes_of_largest = 0;
};

// Returns the launch shape of a nest of loops over blocks. Throws CompileError if what its blocks
// share has no bound that the host knows.
LaunchShape launch_shape_of(const ir::Stmt &nest);

}  // namespace tessera::lower
