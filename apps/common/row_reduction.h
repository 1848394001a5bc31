// Reductions along rows, as softmax, normalization and attention have them.
#pragma once

#include <tessera.h>

namespace tessera::apps {

// Where the only update of `reduction` goes along `r`: reduce `lanes` side by side, so that
// vectors are combined instead of numbers, and several of them, as each waits for the one before
// it; then combine the lanes.
inline void reduce_in_lanes(Func reduction, const RVar &r, int lanes, int vector) {
    RVar step("step"), of("of");
    Var lane("lane");
    Func partial = reduction.update().split(r, step, of, lanes).rfactor(of, lane);
    partial.compute_at(reduction, reduction.args()[0]).vectorize(lane, vector).unroll(lane);
    partial.update().reorder(lane, step).vectorize(lane, vector).unroll(lane);
    reduction.update().atomic().vectorize(of);
}

// Whether an output of two dimensions of floats takes more than 8 MB: a good part of the last
// cache.
inline Expr is_large(Func output) {
    const OutputImageParam buffer = output.output_buffer();
    return cast<int64_t>(buffer.dim(0).extent()) * buffer.dim(1).extent() > (1 << 21);
}

}  // namespace tessera::apps
