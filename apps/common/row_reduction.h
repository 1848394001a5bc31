// Reductions along rows, as softmax, normalization and attention have them.
#pragma once

#include <tessera.h>

namespace tessera::apps {

// If the only update of `reduction` goes along `r`, reduces `lanes` side by side, so that vectors
// are combined instead of numbers, and several of them, as each waits for the one before it; then
// combines the lanes.
inline void reduce_in_lanes(Func reduction, const RVar &r, int lanes, int vector) {
    RVar step("step"), of("of");
    Var lane("lane");
    Func partial = reduction.update().split(r, step, of, lanes).rfactor(of, lane);
    partial.compute_at(reduction, reduction.args()[0]).vectorize(lane, vector).unroll(lane);
    partial.update().reorder(lane, step).vectorize(lane, vector).unroll(lane);
    reduction.update().atomic().vectorize(of);
}

// On GPUs a warp has a row, of which each lane takes 4 neighbours at a time.
constexpr int taken_at_once = 4 * 32;

// Returns true if the lanes hold rows of so many columns (0: of any number) in registers, so that a
// row is read from memory once.
inline bool are_held(int columns) {
    return columns > 0 && columns % taken_at_once == 0 && columns <= 16 * taken_at_once;
}
inline TailStrategy tail_of(int columns) {
    return are_held(columns) ? TailStrategy::Auto : TailStrategy::GuardWithIf;
}

// x of `rows`: the 4 neighbours, of a lane, of a step along the row.
inline void take_by_lanes(Func rows, const Var &x, const Var &lane, const Var &step, int columns) {
    rows.split(x, step, x, taken_at_once, tail_of(columns)).split(x, lane, x, 4).vectorize(x);
    if (are_held(columns)) rows.unroll(step);
}

// The rows of `output` along x: a block has four, of which `row` is the loop.
inline void rows_by_warps(Func output, const Var &x, const Var &y, const Var &row, int columns) {
    Var lane("lane"), step("step");
    if (are_held(columns)) output.bound(x, 0, columns);
    take_by_lanes(output, x, lane, step, columns);
    output.split(y, y, row, 4, TailStrategy::GuardWithIf)
        .reorder(x, step, lane, row, y)
        .gpu_blocks(y)
        .gpu_threads(row)
        .gpu_lanes(lane);
}

// Keeps the rows in registers at the loop `at` over warps of `consumer`. If they do not fit, they
// are read again from the first cache.
inline void hold_rows(Func rows, const Var &x, const Func &consumer, const Var &at, int columns) {
    if (!are_held(columns)) return;
    Var lane("lane"), step("step");
    take_by_lanes(rows, x, lane, step, columns);
    rows.compute_at(consumer, at)
        .store_in(MemoryType::Register)
        .reorder(x, step, lane)
        .gpu_lanes(lane);
}

// Reduces like reduce_in_lanes: the lanes of a warp reduce the row, and then what each of them has.
// At the loop `at` of `consumer`, by which each warp has a row.
inline void reduce_by_warps(Func reduction, const RVar &r, const Func &consumer, const Var &at,
                            int columns) {
    RVar step("step"), of("of"), quad("quad");
    Var lane("lane");
    Func partial = reduction.update()
                       .split(r, step, of, taken_at_once, tail_of(columns))
                       .split(of, of, quad, 4)
                       .rfactor(of, lane);
    partial.compute_at(consumer, at).gpu_lanes(lane);
    partial.update().reorder(quad, step, lane).unroll(quad).gpu_lanes(lane);
    if (are_held(columns)) partial.update().unroll(step);
    reduction.update().atomic().gpu_lanes(of);
}

// The same at a loop `at` over blocks, which have several rows: a warp for each value of `row`.
// There may be more threads along x than a warp has, and so the rows are no lanes.
inline void reduce_by_rows_of_warps(Func reduction, const RVar &r, const Func &consumer,
                                    const Var &at, const Var &row) {
    RVar step("step"), of("of"), quad("quad");
    Var lane("lane");
    Func partial = reduction.update()
                       .split(r, step, of, taken_at_once, TailStrategy::GuardWithIf)
                       .split(of, of, quad, 4)
                       .rfactor(of, lane);
    partial.compute_at(consumer, at).reorder(lane, row).gpu_threads(lane, row);
    partial.update().reorder(quad, step, lane, row).unroll(quad).gpu_threads(lane, row);
    reduction.compute_at(consumer, at).gpu_threads(row);
    reduction.update().reorder(of, row).unroll(of).gpu_threads(row);
}

// Returns true if an output of two dimensions of floats takes more than 8 MB: a good part of the
// last cache.
inline Expr is_large(Func output) {
    const OutputImageParam buffer = output.output_buffer();
    return cast<int64_t>(buffer.dim(0).extent()) * buffer.dim(1).extent() > (1 << 21);
}

}  // namespace tessera::apps
