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
        transposed(q, d, h) = query(d, q, h);
        product(q, k, b, h) += transposed(q, rd, h) * key(rd, exists(place), h_key);
        Expr seen = place < count;
        if (shape.causal) seen = seen && place <= q;
        score(q, k, b, h) =
            select(seen, product(q, k, b, h) * (1 / std::sqrt(float(size))), Float(32).min());
        // The largest score of all blocks up to this one, and the total of the weights so far,
        // which are relative to it.
        block_largest(q, b, h) = Float(32).min();
        block_largest(q, b, h) = max(block_largest(q, b, h), score(q, rk, b, h));
        largest(q, b, h) = Float(32).min();
        largest(q, r, h) = max(largest(q, r - 1, h), block_largest(q, r, h));
        weight(q, k, b, h) = exp(score(q, k, b, h) - largest(q, b, h));
        block_total(q, b, h) += weight(q, rk, b, h);
        const auto left = [&](const Expr &b) {
            return total(q, b - 1, h) * exp(largest(q, b - 1, h) - largest(q, b, h));
        };
        total(q, b, h) = 0.0f;
        total(q, r, h) = left(r) + block_total(q, r, h);
        // The mean of the values so far is made of that of those before and that of the block.
        kept(q, b, h) = left(b) / total(q, b, h);
        added(q, b, h) = 1 / total(q, b, h);
        sum(d, q, b, h) += weight(q, rk, b, h) * value(d, exists(b * keys + rk), h_key);
        mean(d, q, h) = 0.0f;
        const Expr next = mean(d, q, h) * kept(q, rb, h) + sum(d, q, rb, h) * added(q, rb, h);
        mean(d, q, h) = shape.causal ? select(rb * keys <= q, next, mean(d, q, h)) : next;
        output(d, q, h) = mean(d, q, h);
    }

    // Schedules for at least 48 queries: they are in the lanes of vectors, up to the weights.
    void schedule(const Target &target) {
        if (target.has_gpu_feature()) return schedule_for_gpu();
        const int vector = target.natural_vector_size<float>();
        const bool many = vector >= 16;  // registers, of which AVX-512 has 32
        const int queries = 3 * vector, rows = 6;
        Var block("block");
        output.bound(d, 0, size)
            .split(q, block, q, many ? queries : 2 * queries)
            .parallel(block)
            .parallel(h)
            .vectorize(d, vector);
        transposed.compute_at(output, block).vectorize(q, vector);
        mean.compute_at(output, block).vectorize(d, vector);
        mean.update().reorder(d, q, rb, h);
        tile(mean.update(), d, q, (many ? 4 : 2) * vector, rows, vector, TailStrategy::RoundUp);
        score.compute_at(mean, rb);
        tile(score, q, k, queries, many ? 8 : 4, vector, TailStrategy::ShiftInwards);
        in_registers(product.compute_at(score, k), product.update(), q, k, rd, vector);
        weight.compute_at(mean, rb).vectorize(q, vector);
        for (Func f : {block_largest, block_total}) {
            f.compute_at(mean, rb).vectorize(q, vector).unroll(q);
            f.update().reorder(q, rk).vectorize(q, vector).unroll(q);
        }
        for (Func f : {largest, total}) {
            f.store_at(output, block).compute_at(mean, rb).vectorize(q, vector);
            f.update().vectorize(q, vector);
        }
        for (Func f : {kept, added}) f.compute_at(mean, rb).vectorize(q, vector);
        in_registers(sum.compute_at(mean, q), sum.update(), d, q, rk, vector);
    }

private:
    // A block has 16 queries, and the scores and weights of one block of keys in its memory.
    void schedule_for_gpu() {
        Var block("block"), dt("dt"), kt("kt");
        output.bound(d, 0, size)
            .split(q, block, q, 16, TailStrategy::GuardWithIf)
            .split(d, dt, d, 4)
            .reorder(d, dt, q, block, h)
            .vectorize(d)
            .gpu_blocks(block, h)
            .gpu_threads(dt, q);
        transposed.compute_at(output, block)
            .split(d, dt, d, 4)
            .reorder(d, q, dt)
            .gpu_threads(q, dt);
        mean.compute_at(output, block).split(d, dt, d, 4).reorder(d, dt, q).vectorize(d);
        mean.gpu_threads(dt, q);
        mean.update().split(d, dt, d, 4).reorder(d, dt, q, rb, h).vectorize(d).gpu_threads(dt, q);
        for (Func f : {score, weight}) {
            f.compute_at(mean, rb).split(k, kt, k, 4).reorder(k, q, kt, b).unroll(k);
            f.gpu_threads(q, kt);
        }
        product.compute_at(score, q).unroll(k);
        product.update().reorder(k, rd).unroll(k);
        for (Func f : {block_largest, block_total}) {
            f.compute_at(mean, rb).gpu_threads(q);
            f.update().reorder(rk, q).gpu_threads(q);
        }
        for (Func f : {largest, total}) {
            f.store_at(output, block).compute_at(mean, rb).gpu_threads(q);
            f.update().gpu_threads(q);
        }
        for (Func f : {kept, added}) f.compute_at(mean, rb).gpu_threads(q);
        sum.compute_at(mean, dt).vectorize(d);
        sum.update().reorder(d, rk).vectorize(d);
    }

    template<typename Scheduled>
    void tile(Scheduled f, const Var &x, const Var &y, int width, int height, int vector,
              TailStrategy tail) {
        f.tile(x, y, xi, yi, width, height, tail)
            .reorder(xi, yi, y, x)
            .vectorize(xi, vector)
            .unroll(xi)
            .unroll(yi);
    }
    void in_registers(Func f, Stage update, const Var &x, const Var &y, const RVar &r, int vector) {
        f.vectorize(x, vector).unroll(x).unroll(y);
        update.reorder(x, y, r).vectorize(x, vector).unroll(x).unroll(y);
    }

    Var xi{"xi"}, yi{"yi"};
};

}  // namespace tessera::apps
