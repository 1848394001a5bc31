// Products of matrices on tensor cores: any sizes, both layouts of each operand, batches.
#pragma once

#include "autoscheduler/cost/tensor_tiles.h"

#include <string>
#include <tessera.h>
#include <vector>

namespace tessera::apps {

using autoscheduler::choose_mma_tiles;
using autoscheduler::choose_tiles;
using autoscheduler::possible_tiles;
using autoscheduler::TensorMachine;
using autoscheduler::TensorShape;
using autoscheduler::TensorTiles;

// The last tile of a row of tiles begins earlier, if it is cut, so that it is whole: then threads
// store 16 bytes at a time. Rows of the result are guarded one by one, and so is what is smaller
// than a tile.
inline TailStrategy tail_of_columns(const TensorShape &s, const TensorTiles &t) {
    const bool is_aligned = s.columns * s.result_bytes % 16 == 0;
    return is_aligned && s.columns >= t.columns ? TailStrategy::ShiftInwards
                                                : TailStrategy::GuardWithIf;
}

// Schedules out, rows x columns, which uses sums(x, y, ...) += a(k, y) * b(x, k) once for each of
// its own elements. `staged` are the Funcs or wrappers that hold the operands of a step.
inline void schedule_gemm(Func out, Func sums, const std::vector<Func> &staged,
                          const TensorShape &shape, const TensorTiles &t,
                          const TensorInstruction &instruction) {
    const std::vector<Var> blocks = out.args();
    const Var x = blocks[0], y = blocks[1];
    Var xi("xi"), yi("yi"), w("w");
    RVar k = sums.rvars(0)[0], ko("ko"), ki("ki");
    out.split(x, x, xi, t.columns, tail_of_columns(shape, t));
    out.split(y, y, yi, t.rows, TailStrategy::GuardWithIf).reorder(xi, yi, x, y);
    out.gpu_warpgroups(yi, t.rows / t.warpgroups);
    if (blocks.size() > 3) out.fuse(blocks[2], blocks[3], blocks[2]);
    for (size_t d = 0; d < std::min<size_t>(blocks.size(), 3); d++) out.gpu_blocks(blocks[d]);
    out.gpu_order(grouped(t.group)).gpu_resident_blocks(t.resident);
    if (t.persistent) out.persistent(t.resident);
    if (t.roles) out.warp_specialize();
    sums.compute_at(out, x).store_in(MemoryType::Tile).gpu_warpgroups(y, t.rows / t.warpgroups);
    sums.bound_extent(x, t.columns).bound_extent(y, t.rows);
    Stage update = sums.update();
    update.split(k, ko, ki, t.step).split(y, w, y, t.rows / t.warpgroups);
    std::vector<VarOrRVar> order = {ki, x, y, w, ko};
    order.insert(order.end(), blocks.begin() + 2, blocks.end());
    update.reorder(order).gpu_warpgroups(w).tensorize(x, y, ki, instruction);
    for (Func f : staged)
        f.compute_at(sums, ko).store_in(MemoryType::GPUShared).async().ring_buffer(t.stages);
}

// The same for mma.sync: warps of t.warp_rows x t.warp_columns share a tile.
inline void schedule_mma_gemm(Func out, Func sums, const std::vector<Func> &staged,
                              const TensorShape &shape, const TensorTiles &t,
                              const TensorInstruction &instruction) {
    const std::vector<Var> blocks = out.args();
    const Var x = blocks[0], y = blocks[1];
    Var xi("xi"), yi("yi"), wx("wx"), wy("wy");
    RVar k = sums.rvars(0)[0], ko("ko"), ki("ki");
    out.split(x, x, xi, t.columns, tail_of_columns(shape, t));
    out.split(y, y, yi, t.rows, TailStrategy::GuardWithIf).reorder(xi, yi, x, y);
    out.tile(xi, yi, wx, wy, xi, yi, t.warp_columns, t.warp_rows).gpu_warps(wx, wy);
    for (const Var &block : blocks) out.gpu_blocks(block);
    out.gpu_order(grouped(t.group));
    sums.compute_at(out, x).store_in(MemoryType::Tile);
    sums.tile(x, y, wx, wy, x, y, t.warp_columns, t.warp_rows).gpu_warps(wx, wy);
    sums.bound_extent(x, t.columns).bound_extent(y, t.rows);
    Stage update = sums.update();
    update.split(k, ko, ki, t.step).tile(x, y, wx, wy, x, y, t.warp_columns, t.warp_rows);
    update.reorder({ki, x, y, wx, wy, ko}).gpu_warps(wx, wy).tensorize(x, y, ki, instruction);
    for (Func f : staged)
        f.compute_at(sums, ko).store_in(MemoryType::GPUShared).async().ring_buffer(t.stages);
}

// The same with the sum in t.slices parts of whole steps, as many in each, which blocks of their
// own compute; another kernel adds them up, and does what comes after.
inline void schedule_sliced_gemm(Func out, Func sums, const std::vector<Func> &staged,
                                 const TensorShape &shape, const TensorTiles &t,
                                 const TensorInstruction &instruction) {
    RVar k = sums.rvars(0)[0], slice("slice");
    Var of("of"), v("v"), lane("lane"), xo("xo"), x = out.args()[0];
    Func parts = sums.update().split(k, slice, k, shape.depth / t.slices).rfactor(slice, of);
    Func stored = parts.in();
    TensorShape of_parts = shape;
    of_parts.result_bytes = sums.type().bytes();
    schedule_gemm(stored.compute_root(), parts, staged, of_parts, t, instruction);
    // Each thread has four columns.
    const Var y = out.args()[1];
    const TailStrategy guard = TailStrategy::GuardWithIf;
    out.split(x, x, v, 4, guard).vectorize(v).fuse(x, y, x).split(x, xo, lane, 128, guard);
    out.gpu_blocks(xo).gpu_threads(lane);
    if (out.args().size() > 2) out.gpu_blocks(out.args()[2]);
    sums.compute_at(out, lane).vectorize(x, 4);
    sums.update().reorder(x, slice).vectorize(x, 4).unroll(slice);
}

// result(x, y, z) = of sums(x, y, z) = sum over k of a * b. With one product there is no z.
struct TensorGemm {
    struct Types {
        Type operand = Float(16), sum = Float(32), result = Float(16);
    };
    enum class Epilogue { None, BiasGelu };

    TensorShape shape;
    Types types;
    Var x{"x"}, y{"y"}, z{"z"};
    RDom k;
    ImageParam a, b, bias;
    Func padded_a, padded_b, sums{"sums"}, out{"out"};

    TensorGemm(const TensorShape &of, const Types &types, Epilogue epilogue = Epilogue::None)
        : shape(of), types(types), k(0, of.depth, "k"), a(types.operand, of.batch > 1 ? 3 : 2, "a"),
          b(types.operand, of.batch > 1 ? 3 : 2, "b"), bias(types.result, 1, "bias") {
        // Tiles at the ends have more rows and columns than the matrices, which are zeros there.
        padded_a = padded(a, shape.a_by_columns ? 0 : 1, shape.rows);
        padded_b = padded(b, shape.b_by_columns ? 1 : 0, shape.columns);
        const auto at = [&](Func &of, const Expr &inner, const Expr &outer) {
            return cast(types.sum, shape.batch > 1 ? Expr(of(inner, outer, z)) : of(inner, outer));
        };
        const Expr of_a = shape.a_by_columns ? at(padded_a, y, k) : at(padded_a, k, y);
        const Expr of_b = shape.b_by_columns ? at(padded_b, k, x) : at(padded_b, x, k);
        if (shape.batch > 1) {
            sums(x, y, z) += of_a * of_b;
            out(x, y, z) = result_of(sums(x, y, z), epilogue);
        } else {
            sums(x, y) += of_a * of_b;
            out(x, y) = result_of(sums(x, y), epilogue);
        }
        promise_sizes();
    }

    // Returns the tiles that the model of tensor_tiles.h chooses for a compute capability.
    TensorTiles choose(int capability = 90) const {
        const bool is_along_sum = !shape.a_by_columns && shape.b_by_columns;
        const bool has_wgmma = capability == 90 && (is_along_sum || types.operand.bytes() == 2);
        return has_wgmma ? choose_tiles(shape) : choose_mma_tiles(shape);
    }
    void schedule(const TensorTiles &tiles) {
        const bool is_mma = tiles.warp_rows > 0, is_tf32 = types.operand == Float(32);
        const auto schedule = is_mma             ? schedule_mma_gemm
                              : tiles.slices > 1 ? schedule_sliced_gemm
                                                 : schedule_gemm;
        schedule(
            out, sums, {padded_a, padded_b}, shape, tiles,
            TensorInstruction(std::string(is_mma ? "mma" : "wgmma") + (is_tf32 ? ".tf32" : "")));
    }

private:
    static Func padded(const ImageParam &matrix, int dimension, int extent) {
        Region ends(size_t(matrix.dimensions()));
        ends[size_t(dimension)] = {0, extent};
        return BoundaryConditions::constant_exterior(matrix, cast(matrix.type(), 0), ends);
    }
    Expr result_of(const Expr &sum, Epilogue epilogue) const {
        if (epilogue == Epilogue::None) {
            if (types.result.is_int() && types.result.bits() < types.sum.bits())
                return saturating_cast(types.result, sum);
            return cast(types.result, sum);
        }
        // The approximation by tanh, which is 1 - 2 / (1 + exp(2u)).
        const Expr v = sum + cast<float>(bias(x));
        const Expr u = v * (0.7978845608f + 0.0356774081f * v * v);
        return cast(types.result, v * fast_inverse(1.0f + fast_exp(-2.0f * u)));
    }
    // Says what is known of the matrices: the sizes, and rows that are no multiples of 16 bytes,
    // which threads copy. The machine copies others.
    void promise_sizes() {
        const auto promise = [&](ImageParam &p, int inner, int outer) {
            p.dim(0).set_bounds(0, inner);
            p.dim(1).set_bounds(0, outer);
            if (inner * types.operand.bytes() % 16 != 0) p.dim(1).set_stride(inner);
        };
        promise(a, shape.a_by_columns ? shape.rows : shape.depth,
                shape.a_by_columns ? shape.depth : shape.rows);
        promise(b, shape.b_by_columns ? shape.depth : shape.columns,
                shape.b_by_columns ? shape.columns : shape.depth);
        out.bound(x, 0, shape.columns).bound(y, 0, shape.rows);
        out.output_buffer().dim(1).set_stride(shape.columns);
        if (shape.batch > 1) out.bound(z, 0, shape.batch);
    }
};

}  // namespace tessera::apps
