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

// On a GPU, rows of `output` along x: a warp has one, of which each lane takes 4 neighbours at a
// time; a block has four, of which `row` is the loop.
inline void rows_by_warps(Func output, const Var &x, const Var &y, const Var &row) {
    Var lane("lane"), step("step");
    output.split(x, step, x, 4 * 32, TailStrategy::GuardWithIf)
        .split(x, lane, x, 4)
        .split(y, y, row, 4, TailStrategy::GuardWithIf)
        .reorder(x, step, lane, row, y)
        .vectorize(x)
        .gpu_blocks(y)
        .gpu_threads(row)
        .gpu_lanes(lane);
}

// As reduce_in_lanes, at a loop `at` over threads of `consumer`, each of which has a row: the lanes
// of a warp reduce it, each 4 neighbours at a time.
inline void reduce_by_warps(Func reduction, const RVar &r, const Func &consumer, const Var &at) {
    RVar step("step"), of("of"), quad("quad");
    Var lane("lane");
    Func partial = reduction.update()
                       .split(r, step, of, 4 * 32, TailStrategy::GuardWithIf)
                       .split(of, of, quad, 4)
                       .rfactor(of, lane);
    partial.compute_at(consumer, at).gpu_lanes(lane);
    partial.update().reorder(quad, step, lane).unroll(quad).gpu_lanes(lane);
    reduction.compute_at(consumer, at).update().unroll(of);
}

// The same at a loop `at` over blocks, which have several rows: a warp for each value of `row`.
inline void reduce_by_rows_of_warps(Func reduction, const RVar &r, const Func &consumer,
                                    const Var &at, const Var &row) {
    RVar step("step"), of("of"), quad("quad");
    Var lane("lane");
    Func partial = reduction.update()
                       .split(r, step, of, 4 * 32, TailStrategy::GuardWithIf)
                       .split(of, of, quad, 4)
                       .rfactor(of, lane);
    partial.compute_at(consumer, at).reorder(lane, row).gpu_threads(lane, row);
    partial.update().reorder(quad, step, lane, row).unroll(quad).gpu_threads(lane, row);
    reduction.compute_at(consumer, at).gpu_threads(row);
    reduction.update().reorder(of, row).unroll(of).gpu_threads(row);
}

// Whether an output of two dimensions of floats takes more than 8 MB: a good part of the last
// cache.
inline Expr is_large(Func output) {
    const OutputImageParam buffer = output.output_buffer();
    return cast<int64_t>(buffer.dim(0).extent()) * buffer.dim(1).extent() > (1 << 21);
}

}  // namespace tessera::apps
