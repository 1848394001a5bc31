// Layer normalization: each row is moved and scaled to a mean of 0 and a variance of 1, then scaled
// and moved by what was learnt for each column.
#pragma once

#include "common/row_reduction.h"

namespace tessera::apps {

struct LayerNorm {
    Func row{"row"}, sum{"sum"}, mean{"mean"}, squares{"squares"}, factor{"factor"},
        output{"layer_norm"};
    Var x{"x"}, y{"y"};
    RDom r;

    // Dimensions: input (x, y), scale (x), shift (x). `epsilon` is added to the variance.
    // `columns`: the width, if it is known now; else 0.
    LayerNorm(const Func &input, const Func &scale, const Func &shift, const Expr &width,
              float epsilon, int columns = 0)
        : r(0, columns > 0 ? Expr(columns) : width, "r"), columns(columns) {
        const Expr count = cast<float>(columns > 0 ? Expr(columns) : width);
        row(x, y) = input(x, y);
        sum(y) += row(r, y);
        mean(y) = sum(y) / count;
        const Expr distance = row(r, y) - mean(y);
        squares(y) += distance * distance;
        factor(y) = 1.0f / sqrt(squares(y) / count + epsilon);
        output(x, y) = (row(x, y) - mean(y)) * factor(y) * scale(x) + shift(x);
    }

    void schedule(const Target &target) {
        if (target.has_gpu_feature()) return schedule_for_gpu();
        const int vector = target.natural_vector_size<float>();
        Var block("block");
        output
            .vectorize(x, vector, TailStrategy::GuardWithIf)  // a row may be short
            .split(y, block, y, 16, TailStrategy::GuardWithIf)
            .parallel(block);  // some rows a task: one is too little work
        // The three loops over a row read it once from memory: it stays in the cache.
        for (Func f : {sum, mean, squares, factor}) f.compute_at(output, y);
        reduce_in_lanes(sum, r, 4 * vector, vector);
        reduce_in_lanes(squares, r, 4 * vector, vector);
        // An output that would not stay in the caches goes past them.
        output.specialize(is_large(output)).stream_stores();
    }

private:
    void schedule_for_gpu() {
        Var yi("yi");
        rows_by_warps(output, x, y, yi, columns);
        hold_rows(row, x, output, yi, columns);
        for (Func f : {sum, mean, squares, factor}) f.compute_at(output, yi);
        for (const Func &f : {sum, squares}) reduce_by_warps(f, r, output, yi, columns);
    }

    int columns;
};

}  // namespace tessera::apps
