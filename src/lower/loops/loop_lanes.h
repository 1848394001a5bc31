#pragma once
#include "ir/nodes.h"

namespace tessera::lower {

// The body of the loop for all of its `iterations` at once, as lanes of vectors. `atomic`: the loop
// stands below an Atomic. Loops marked vectorized inside must be gone.
ir::Stmt loop_as_lanes(const ir::For &loop, const ir::Stmt &body, int iterations, bool atomic,
                       bool strict_float);

}  // namespace tessera::lower
