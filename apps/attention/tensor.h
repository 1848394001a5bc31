// Attention on tensor cores: scores in the accumulators of one product, weights from there as the
// left operand of the next one, and the mean of the values so far in the accumulators of that. The
// loop over blocks of keys is that of online.h.
#pragma once

#include <cmath>
#include <tessera.h>
#include <vector>

namespace tessera::apps {

struct TensorAttention {
    Func score{"score"}, seen{"seen"}, block_largest{"block_largest"}, largest{"largest"},
        weight{"weight"}, block_total{"block_total"}, total{"total"}, kept{"kept"}, added{"added"},
        sum{"sum"}, mean{"mean"}, output{"attention"};
    Var d{"d"}, q{"q"}, k{"k"}, b{"b"}, t{"t"}, h{"h"};
    RDom rd, rk, rb, r;

    struct Shape {
        int size = 128;       // of a query, a key and a value
        int group = 1;        // so many heads of queries share one of keys and values
        bool causal = false;  // a query sees the keys up to its own place
        int keys = 64;        // in a block, which divide those that there are
        int queries = 128;    // in a block, which divide those that there are
        int rows = 32;        // of queries, in a warp or warpgroup
    };

    // Dimensions: query (d, q, h), key and value (d, k, h / group), of `count` keys, of float16.
    TensorAttention(const Func &query, const Func &key, const Func &value, const Shape &shape,
                    const Expr &count)
        : rd(0, shape.size, "rd"), rk(0, shape.keys, "rk"), rb(0, count / shape.keys, "rb"),
          r(0, count / shape.keys, "r"), shape(shape), query(query), key(key), value(value) {
        // A block has queries t * shape.queries + q, and all keys up to the last of these: q is
        // counted in it, so that which keys it has depends on t alone.
        const Expr h_key = h / shape.group, row = t * shape.queries + q;
        const Expr scale = 1 / std::sqrt(float(shape.size));
        const auto at = [&](const Expr &k, const Expr &b) { return b * shape.keys + k; };
        score(k, q, b, t, h) +=
            cast<float>(query(rd, row, h)) * cast<float>(key(rd, at(k, b), h_key));
        seen(k, q, b, t, h) = shape.causal
                                  ? select(at(k, b) <= row, score(k, q, b, t, h), Float(32).min())
                                  : score(k, q, b, t, h);
        block_largest(q, b, t, h) = Float(32).min();
        block_largest(q, b, t, h) = max(block_largest(q, b, t, h), seen(rk, q, b, t, h));
        largest(q, b, t, h) = Float(32).min();
        largest(q, r, t, h) = max(largest(q, r - 1, t, h), block_largest(q, r, t, h));
        weight(k, q, b, t, h) = fast_exp(seen(k, q, b, t, h) * scale - largest(q, b, t, h) * scale);
        block_total(q, b, t, h) += weight(rk, q, b, t, h);
        const auto left = [&](const Expr &b) {
            return total(q, b - 1, t, h) *
                   fast_exp((largest(q, b - 1, t, h) - largest(q, b, t, h)) * scale);
        };
        total(q, b, t, h) = 0.0f;
        total(q, r, t, h) = left(r) + block_total(q, r, t, h);
        added(q, b, t, h) = fast_inverse(total(q, b, t, h));
        kept(q, b, t, h) = left(b) * added(q, b, t, h);
        const Expr of_mean = cast<float16_t>(weight(rk, q, b, t, h) * added(q, b, t, h));
        sum(d, q, b, t, h) += cast<float>(of_mean) * cast<float>(value(d, at(rk, b), h_key));
        if (shape.causal) rb.where(at(0, rb) < (t + 1) * shape.queries);
        mean(d, q, t, h) = 0.0f;
        mean(d, q, t, h) = mean(d, q, t, h) * kept(q, rb, t, h) + sum(d, q, rb, t, h);
        output(d, q, h) = cast<float16_t>(mean(d, q % shape.queries, q / shape.queries, h));
    }

    // Returns a shape with the blocks that suit the target.
    static Shape shape_for(const Target &target, Shape shape) {
        if (is_for_hopper(target)) shape.keys = 128, shape.queries = 128, shape.rows = 64;
        return shape;
    }
    void schedule(const Target &target) {
        if (is_for_hopper(target))
            schedule_for_hopper();
        else
            schedule();
    }
    // By mma.sync.
    void schedule() {
        schedule_in_tiles(TensorInstruction::MMA);
        // Rows of ldmatrix are in other banks than those above them.
        query.in().compute_at(output, block).store_in(MemoryType::GPUShared);
        query.in().align_storage(query.in().args()[0], shape.size + 8);
        copied(query.in());
        for (Func f : {key, value})
            f.in().compute_at(mean, rb).store_in(MemoryType::GPUShared).async().ring_buffer(2);
    }
    // By wgmma, in warpgroups of 64 queries each, for GPUs of capability 9.0: a warp of its own
    // copies blocks of keys and values ahead into `slots`.
    void schedule_for_hopper(int slots = 2) {
        schedule_in_tiles(TensorInstruction::WGMMA);
        // A multiprocessor has 65536 registers.
        const bool are_two = shape.queries / shape.rows <= 2;
        output.warp_specialize(are_two ? 24 : 32, are_two ? 240 : 160);
        query.in().compute_at(output, block);
        for (Func f : {key, value}) f.in().compute_at(mean, rb);
        for (Func f : {query, key, value})
            f.in().store_in(MemoryType::GPUShared).async().ring_buffer(slots);
    }

private:
    static bool is_for_hopper(const Target &target) {
        return target.cuda_capabilities() == std::vector{90};
    }
    void schedule_in_tiles(const TensorInstruction &instruction) {
        is_by_warpgroups = instruction == TensorInstruction::WGMMA;
        output.bound(d, 0, shape.size).align_bounds(q, shape.queries);
        output.split(q, block, q, shape.queries).gpu_blocks(block, h);
        by_warps(output);
        mean.compute_at(output, block).store_in(MemoryType::Tile);
        mean.update().reorder({d, q, rb, t, h});
        by_warps(mean), by_warps(mean.update());
        for (Func f :
             {score, weight, block_largest, block_total, largest, total, kept, added, sum}) {
            f.compute_at(mean, rb).store_in(MemoryType::Tile);
            by_warps(f);
        }
        for (Func f : {score, block_largest, block_total, largest, total, sum})
            by_warps(f.update());
        for (Func f : {largest, total}) f.store_at(output, block);
        score.update().reorder({rd, k, q, w}).tensorize(k, q, rd, instruction);
        sum.update().reorder({rk, d, q, w}).tensorize(d, q, rk, instruction);
    }
    template<typename Scheduled> void by_warps(Scheduled f) {
        f.split(q, w, q, shape.rows);
        if (is_by_warpgroups)
            f.gpu_warpgroups(w);
        else
            f.gpu_warps(w);
    }
    // Each thread copies 16 bytes at a time.
    void copied(Func f) {
        const Var d = f.args()[0], q = f.args()[1], v("v"), y("y"), r("r"), lane("lane");
        f.split(d, d, v, 8).split(q, q, r, 256 / shape.size).fuse(d, r, lane).vectorize(v);
        f.split(q, q, y, shape.queries / shape.rows).reorder({v, lane, y, q}).gpu_threads(lane, y);
    }

    const Shape shape;
    Func query, key, value;
    Var w{"w"}, block{"block"};
    bool is_by_warpgroups = false;
};

}  // namespace tessera::apps
