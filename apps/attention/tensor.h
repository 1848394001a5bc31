// Attention on tensor cores: scores in the accumulators of one product, weights from there as the
// left operand of the next one, and the mean of the values so far in the accumulators of that. The
// loop over blocks of keys is that of online.h.
#pragma once

#include <cmath>
#include <tessera.h>

namespace tessera::apps {

struct TensorAttention {
    Func score{"score"}, seen{"seen"}, block_largest{"block_largest"}, largest{"largest"},
        weight{"weight"}, block_total{"block_total"}, total{"total"}, kept{"kept"}, added{"added"},
        sum{"sum"}, mean{"mean"}, output{"attention"};
    Var d{"d"}, q{"q"}, k{"k"}, b{"b"}, h{"h"};
    RDom rd, rk, rb, r;

    struct Shape {
        int size = 128;       // of a query, a key and a value
        int group = 1;        // so many heads of queries share one of keys and values
        bool causal = false;  // a query sees the keys up to its own place
        int keys = 64;        // in a block, which divide those that there are
        int queries = 128;    // in a block, which divide those that there are
        int rows = 32;        // of queries, in a warp
    };

    // Dimensions: query (d, q, h), key and value (d, k, h / group), of `count` keys, of float16.
    TensorAttention(const Func &query, const Func &key, const Func &value, const Shape &shape,
                    const Expr &count)
        : rd(0, shape.size, "rd"), rk(0, shape.keys, "rk"), rb(0, count / shape.keys, "rb"),
          r(0, count / shape.keys, "r"), shape(shape), query(query), key(key), value(value) {
        const Expr h_key = h / shape.group, place = b * shape.keys + k;
        const Expr scale = 1 / std::sqrt(float(shape.size));
        score(k, q, b, h) +=
            cast<float>(query(rd, q, h)) * cast<float>(key(rd, b * shape.keys + k, h_key));
        seen(k, q, b, h) = shape.causal ? select(place <= q, score(k, q, b, h), Float(32).min())
                                        : score(k, q, b, h);
        block_largest(q, b, h) = Float(32).min();
        block_largest(q, b, h) = max(block_largest(q, b, h), seen(rk, q, b, h));
        largest(q, b, h) = Float(32).min();
        largest(q, r, h) = max(largest(q, r - 1, h), block_largest(q, r, h));
        weight(k, q, b, h) = fast_exp(seen(k, q, b, h) * scale - largest(q, b, h) * scale);
        block_total(q, b, h) += weight(rk, q, b, h);
        const auto left = [&](const Expr &b) {
            return total(q, b - 1, h) * fast_exp((largest(q, b - 1, h) - largest(q, b, h)) * scale);
        };
        total(q, b, h) = 0.0f;
        total(q, r, h) = left(r) + block_total(q, r, h);
        kept(q, b, h) = left(b) / total(q, b, h);
        added(q, b, h) = 1 / total(q, b, h);
        const Expr of_mean = cast<float16_t>(weight(rk, q, b, h) * added(q, b, h));
        sum(d, q, b, h) += cast<float>(of_mean) * cast<float>(value(d, b * shape.keys + rk, h_key));
        mean(d, q, h) = 0.0f;
        mean(d, q, h) = mean(d, q, h) * kept(q, rb, h) + sum(d, q, rb, h);
        output(d, q, h) = cast<float16_t>(mean(d, q, h));
    }

    void schedule() {
        Var block("block");
        output.bound(d, 0, shape.size).split(q, block, q, shape.queries).gpu_blocks(block, h);
        by_warps(output);
        mean.compute_at(output, block).store_in(MemoryType::Tile);
        mean.update().reorder({d, q, rb, h});
        by_warps(mean), by_warps(mean.update());
        for (Func f :
             {score, weight, block_largest, block_total, largest, total, kept, added, sum}) {
            f.compute_at(mean, rb).store_in(MemoryType::Tile);
            by_warps(f);
        }
        for (Func f : {score, block_largest, block_total, largest, total, sum})
            by_warps(f.update());
        for (Func f : {largest, total}) f.store_at(output, block);
        score.update().reorder({rd, k, q, w}).tensorize(k, q, rd, TensorInstruction::MMA);
        sum.update().reorder({rk, d, q, w}).tensorize(d, q, rk, TensorInstruction::MMA);
        // Rows of ldmatrix are in other banks than those above them.
        query.in().compute_at(output, block).store_in(MemoryType::GPUShared);
        query.in().align_storage(query.in().args()[0], shape.size + 8);
        copied(query.in());
        for (Func f : {key, value})
            f.in().compute_at(mean, rb).store_in(MemoryType::GPUShared).async().ring_buffer(2);
    }

private:
    template<typename Scheduled> void by_warps(Scheduled f) {
        f.split(q, w, q, shape.rows).gpu_warps(w);
    }
    // Each thread copies 16 bytes at a time.
    void copied(Func f) {
        const Var d = f.args()[0], q = f.args()[1], v("v"), y("y"), r("r"), lane("lane");
        f.split(d, d, v, 8).split(q, q, r, 256 / shape.size).fuse(d, r, lane).vectorize(v);
        f.split(q, q, y, shape.queries / shape.rows).reorder({v, lane, y, q}).gpu_threads(lane, y);
    }

    const Shape shape;
    Func query, key, value;
    Var w{"w"};
};

}  // namespace tessera::apps
