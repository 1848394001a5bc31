// Softmax along each row: e^value as a part of the row's sum of them. The largest value is
// subtracted first, so that no power overflows.
#pragma once

#include "common/row_reduction.h"

namespace tessera::apps {

struct Softmax {
    Func row{"row"}, largest{"largest"}, power{"power"}, total{"total"}, factor{"factor"},
        output{"softmax"};
    Var x{"x"}, y{"y"};
    RDom r;

    // `columns`: the width, if it is known now; else 0.
    Softmax(const Func &input, const Expr &width, int columns = 0)
        : r(0, columns > 0 ? Expr(columns) : width, "r"), columns(columns) {
        row(x, y) = input(x, y);
        largest(y) = Float(32).min();
        largest(y) = max(largest(y), row(r, y));
        power(x, y) = exp(row(x, y) - largest(y));
        total(y) += power(r, y);
        factor(y) = 1.0f / total(y);
        output(x, y) = power(x, y) * factor(y);
    }

    void schedule(const Target &target) {
        if (target.has_gpu_feature()) return schedule_for_gpu();
        const int vector = target.natural_vector_size<float>();
        Var block("block");
        output
            .vectorize(x, vector, TailStrategy::GuardWithIf)  // a row may be short
            .split(y, block, y, 16, TailStrategy::GuardWithIf)
            .parallel(block);  // some rows a task: one is too little work
        // A row is read once from memory, and its powers are computed once: both stay in the cache.
        for (Func f : {largest, total, factor}) f.compute_at(output, y);
        power.compute_at(output, y).vectorize(x, vector, TailStrategy::GuardWithIf);
        reduce_in_lanes(largest, r, 4 * vector, vector);
        reduce_in_lanes(total, r, 4 * vector, vector);
    }

private:
    void schedule_for_gpu() {
        Var yi("yi");
        rows_by_warps(output, x, y, yi, columns);
        hold_rows(row, x, output, yi, columns);
        for (Func f : {largest, total, factor}) f.compute_at(output, yi);
        for (const Func &f : {largest, total}) reduce_by_warps(f, r, output, yi, columns);
    }

    int columns;
};

}  // namespace tessera::apps
