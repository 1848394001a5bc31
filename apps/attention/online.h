// The same with an online softmax: blocks of keys are taken in turn, and the largest score and the
// sum of the weights so far are carried along, so that no row of scores is ever stored.
#pragma once

#include "common/row_reduction.h"

#include <cmath>

namespace tessera::apps {

struct OnlineAttention {
    Func transposed{"transposed"}, product{"product"}, score{"score"},
        block_largest{"block_largest"}, largest{"largest"}, weight{"weight"},
        block_total{"block_total"}, total{"total"}, added{"added"}, kept{"kept"}, sum{"sum"},
        mean{"mean"}, output{"attention"};
    Var d{"d"}, q{"q"}, k{"k"}, b{"b"}, h{"h"};
    RDom rd, rk, rb, r;
    const int size, keys;  // of a value; in a block

    struct Shape {
        int size = 64;        // of a query, a key and a value
        int group = 1;        // so many heads of queries share one of keys and values
        bool causal = false;  // a query sees the keys up to its own place
        int keys = 64;        // in a block
    };

    // Dimensions: query (d, q, h), key and value (d, k, h / group), of `count` keys.
    OnlineAttention(const Func &query, const Func &key, const Func &value, const Shape &shape,
                    const Expr &count)
        : rd(0, shape.size, "rd"), rk(0, shape.keys, "rk"),
          rb(0, (count + shape.keys - 1) / shape.keys, "rb"),
          r(0, (count + shape.keys - 1) / shape.keys, "r"), size(shape.size), keys(shape.keys) {
        const Expr h_key = h / shape.group, place = b * keys + k;
        const auto exists = [&](const Expr &key) { return min(key, count - 1); };
        if (shape.causal) rb.where(rb * keys <= q);
        transposed(k, b, d, h) = key(d, exists(place), h);
        product(k, b, q, h) += query(rd, q, h) * transposed(k, b, rd, h_key);
        Expr seen = place < count;
        if (shape.causal) seen = seen && place <= q;
        score(k, b, q, h) =
            select(seen, product(k, b, q, h) * (1 / std::sqrt(float(size))), Float(32).min());
        // The largest score of all blocks up to this one, and the total of the weights so far,
        // which are relative to it.
        block_largest(b, q, h) = Float(32).min();
        block_largest(b, q, h) = max(block_largest(b, q, h), score(rk, b, q, h));
        largest(b, q, h) = Float(32).min();
        largest(r, q, h) = max(largest(r - 1, q, h), block_largest(r, q, h));
        weight(k, b, q, h) = exp(score(k, b, q, h) - largest(b, q, h));
        block_total(b, q, h) += weight(rk, b, q, h);
        const auto left = [&](const Expr &b) {
            return total(b - 1, q, h) * exp(largest(b - 1, q, h) - largest(b, q, h));
        };
        total(b, q, h) = 0.0f;
        total(r, q, h) = left(r) + block_total(r, q, h);
        // The mean of the values so far is made of that of those before and that of the block.
        kept(b, q, h) = left(b) / total(b, q, h);
        added(b, q, h) = 1 / total(b, q, h);
        sum(d, b, q, h) += weight(rk, b, q, h) * value(d, exists(b * keys + rk), h_key);
        mean(d, q, h) = 0.0f;
        mean(d, q, h) = mean(d, q, h) * kept(rb, q, h) + sum(d, rb, q, h) * added(rb, q, h);
        output(d, q, h) = mean(d, q, h);
    }

    // Schedules for at least 24 queries.
    void schedule(const Target &target) {
        const int vector = target.natural_vector_size<float>();
        const int width = (vector >= 16 ? 4 : 2) * vector, rows = 6;
        Var block("block");
        output.bound(d, 0, size)
            .split(q, block, q, 4 * rows)
            .parallel(block)
            .parallel(h)
            .vectorize(d, vector);
        transposed.compute_at(output, h).vectorize(k, vector);
        mean.compute_at(output, block).vectorize(d, vector);
        mean.update().reorder(d, q, rb, h);
        tile(mean.update(), d, rows, width, vector, TailStrategy::RoundUp);
        score.compute_at(mean, rb);
        tile(score, k, rows, width, vector, TailStrategy::ShiftInwards);
        sums_of_tile(product.compute_at(score, q), product.update(), k, rd, vector);
        for (Func f : {block_largest, block_total}) {
            f.compute_at(mean, rb);
            reduce_in_lanes(f, rk, keys, vector);
        }
        for (Func f : {largest, total}) f.store_at(output, block).compute_at(mean, rb);
        for (Func f : {kept, added}) f.compute_at(mean, rb);
        weight.compute_at(mean, rb).vectorize(k, vector);
        sums_of_tile(sum.compute_at(mean, q), sum.update(), d, rk, vector);
    }

private:
    template<typename Scheduled>
    void tile(Scheduled f, const Var &x, int rows, int width, int vector, TailStrategy tail) {
        f.tile(x, q, xi, qi, width, rows, tail)
            .reorder(xi, qi, q, x)
            .vectorize(xi, vector)
            .unroll(xi)
            .unroll(qi);
    }
    void sums_of_tile(Func f, Stage update, const Var &x, const RVar &r, int vector) {
        f.vectorize(x, vector).unroll(x).unroll(q);
        update.reorder(x, q, r).vectorize(x, vector).unroll(x).unroll(q);
    }

    Var xi{"xi"}, qi{"qi"};
};

}  // namespace tessera::apps
