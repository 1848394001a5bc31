// Attention: each query takes the mean of all values, weighted by the softmax of its products with
// their keys.
#pragma once

#include "common/row_reduction.h"

#include <cmath>

namespace tessera::apps {

struct Attention {
    Func transposed{"transposed"}, product{"product"}, score{"score"}, largest{"largest"},
        weight{"weight"}, total{"total"}, sum{"sum"}, output{"attention"};
    Var d{"d"}, q{"q"}, k{"k"}, h{"h"};
    RDom rd, rk;

    // Dimensions: query (d, q, h), key and value (d, k, h), of `size` components and `count` keys.
    Attention(const Func &query, const Func &key, const Func &value, int size, const Expr &count)
        : rd(0, size, "rd"), rk(0, count, "rk") {
        transposed(k, d, h) = key(d, k, h);
        product(k, q, h) += query(rd, q, h) * transposed(k, rd, h);
        score(k, q, h) = product(k, q, h) * (1 / std::sqrt(float(size)));
        largest(q, h) = Float(32).min();
        largest(q, h) = max(largest(q, h), score(rk, q, h));
        weight(k, q, h) = exp(score(k, q, h) - largest(q, h));
        total(q, h) += weight(rk, q, h);
        sum(d, q, h) += weight(rk, q, h) * value(d, rk, h);
        output(d, q, h) = sum(d, q, h) / total(q, h);
    }

    // Schedules for at least 24 queries and 64 keys.
    void schedule(const Target &target) {
        if (target.has_gpu_feature()) return schedule_for_gpu();
        // With AVX-512, 6 rows of 4 vectors are 24 of the 32 registers, as in gemm.
        const int vector = target.natural_vector_size<float>();
        const int width = (vector >= 16 ? 4 : 2) * vector, rows = 6;
        Var block("block"), wide("wide");
        output
            .split(q, block, q, 4 * rows)  // as many rows of scores as the second cache holds
            .parallel(block)
            .parallel(h);
        tile(output, d, rows, width, vector);
        transposed
            .compute_at(output, h)          // so that products are of vectors of keys
            .align_storage(k, 33 * vector)  // a power of two would meet few sets of the first cache
            .vectorize(k, vector, TailStrategy::ShiftInwards);
        score.compute_at(output, block);
        tile(score, k, rows, width, vector);
        sums_of_tile(product.compute_at(score, q), product.update(), k, rd, vector);
        weight.compute_at(output, block).vectorize(k, vector);
        for (Func f : {largest, total}) {
            f.compute_at(output, block);
            reduce_in_lanes(f, rk, 4 * vector, vector);
        }
        sums_of_tile(sum.compute_at(output, q), sum.update(), d, rk, vector);
    }

private:
    // A block has 16 queries; their scores, and the weights of all keys, are in its memory.
    void schedule_for_gpu() {
        Var dt("dt"), qt("qt"), kt("kt"), block("block"), step("step");
        const TailStrategy guard = TailStrategy::GuardWithIf;
        output.split(q, block, q, 16, guard)
            .split(d, dt, d, 4)
            .split(q, qt, q, 2)
            .reorder(d, q, dt, qt, block, h)
            .vectorize(d)
            .unroll(q)
            .gpu_blocks(block, h)
            .gpu_threads(dt, qt);
        score.compute_at(output, block)
            .split(k, step, k, 128, guard)
            .split(k, kt, k, 4)
            .split(q, qt, q, 2)
            .reorder(k, q, kt, qt, step)
            .vectorize(k)
            .unroll(q)
            .gpu_threads(kt, qt);
        transposed.compute_at(score, step)
            .split(k, kt, k, 4)
            .split(d, dt, d, 4)
            .reorder(d, k, kt, dt)
            .unroll(k)
            .unroll(d)
            .gpu_threads(kt, dt);
        product.compute_at(score, kt).vectorize(k).unroll(q);
        product.update().reorder(k, q, rd).vectorize(k).unroll(q).unroll(rd, 8);
        weight.compute_at(output, block)
            .split(k, step, k, 128, guard)
            .split(k, kt, k, 4)
            .reorder(k, kt, q, step)
            .vectorize(k)
            .gpu_threads(kt, q);
        for (const Func &f : {largest, total}) reduce_by_rows_of_warps(f, rk, output, block, q);
        sum.compute_at(output, dt).vectorize(d).unroll(q);
        sum.update().reorder(d, q, rk).vectorize(d).unroll(q).unroll(rk, 8);
    }

    // Tiles of rows, one below the other first: what a column of tiles reads beside the rows stays
    // in the first cache.
    void tile(Func f, const Var &x, int rows, int width, int vector) {
        f.tile(x, q, xi, qi, width, rows, TailStrategy::ShiftInwards)
            .reorder(xi, qi, q, x)
            .vectorize(xi, vector)
            .unroll(xi)
            .unroll(qi);
    }

    // One tile of sums, in registers.
    void sums_of_tile(Func f, Stage update, const Var &x, const RVar &r, int vector) {
        f.vectorize(x, vector).unroll(x).unroll(q);
        update.reorder(x, q, r).vectorize(x, vector).unroll(x).unroll(q);
    }

    Var xi{"xi"}, qi{"qi"};
};

}  // namespace tessera::apps
