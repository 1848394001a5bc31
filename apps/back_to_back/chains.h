// Two products of matrices, or two convolutions, in one kernel on tensor cores: the result of the
// first is an operand of the second, in registers or in the memory of the block. These are the
// sixteen programs of CUTLASS's example 13:
//
//     d0 = relu(alpha0 * a0 ** b0)        d1 = relu(alpha1 * d0 ** b1 + beta1 * c1)
//
// A block computes all columns of both for some rows: so there are as many blocks of the first as
// of the second, and none computes what another one has. In registers, a warp has all columns of
// its rows, because it sums over those of d0.
#pragma once

#include <tessera.h>

#include <string>
#include <vector>

namespace tessera::apps {

struct ChainSizes {
    int rows = 128 * 640, sum = 576;                      // of the products: a0 is rows x sum
    int images = 32, size = 56, channels = 64, taps = 3;  // of the convolutions
    int columns0 = 64, columns1 = 128;                    // of d0 and d1
    bool adds_c1 = true;
};

// Says what a block and its warps have. Rows of convolutions are places of an image, 8 side by
// side.
struct ChainTiles {
    int rows;             // of a block, which has all columns
    int rows0, columns0;  // of a warp, of the first product
    int rows1, columns1;  // of the second one
    int step;             // of a sum, between two copies
    int stages;           // of copies
};

struct Chain {
    const ChainSizes sizes;
    const Type element, sum_type;
    ImageParam a0, b0, b1, c1;
    Param<float> alpha0{"alpha0"}, alpha1{"alpha1"}, beta1{"beta1"};
    Func sum0{"sum0"}, d0{"d0"}, sum1{"sum1"}, d1{"d1"};

    Chain(const ChainSizes &sizes, Type element, int dimensions)
        : sizes(sizes), element(element), sum_type(element.is_float() ? Float(32) : Int(32)),
          a0(element, dimensions, "a0"), b0(element, dimensions, "b0"), b1(element, 2, "b1"),
          c1(element, dimensions, "c1") {}

    Expr product(const Expr &a, const Expr &b) const {
        return cast(sum_type, a) * cast(sum_type, b);
    }
    // Returns alpha1 * sum1 + beta1 * c1.
    Expr second(const Expr &sum, const Expr &added) const {
        const Expr scaled = alpha1 * cast<float>(sum);
        return sizes.adds_c1 ? scaled + beta1 * cast<float>(added) : scaled;
    }
    // Returns relu(value) as an element. Bytes are rounded.
    Expr rectified(const Expr &value) const {
        const Expr positive = max(value, 0.0f);
        return element.is_float() ? cast(element, positive)
                                  : saturating_cast(element, round(positive));
    }
};

// Two products. Dimensions: a0(k, y), b0(k, x), b1(k, x), c1(x, y), d1(x, y).
struct BackToBackGemm : Chain {
    RDom k, r;

    BackToBackGemm(const ChainSizes &sizes, Type element)
        : Chain(sizes, element, 2), k(0, sizes.sum, "k"), r(0, sizes.columns0, "r") {
        sum0(x, y) += product(a0(k, y), b0(k, x));
        d0(x, y) = rectified(alpha0 * cast<float>(sum0(x, y)));
        sum1(x, y) += product(d0(r, y), b1(r, x));
        d1(x, y) = rectified(second(sum1(x, y), c1(x, y)));
    }

    // The sums of the first product are in registers, where they become an operand of the second.
    void schedule_in_registers(const ChainTiles &t) {
        d1.tile(x, y, xi, yi, sizes.columns1, t.rows).gpu_blocks(x, y);
        d1.split(yi, w, yi, t.rows1).gpu_warps(w);
        for (Func sum : {sum0, sum1}) {
            sum.compute_at(d1, x).store_in(MemoryType::Tile).split(y, w, y, t.rows1).gpu_warps(w);
            sum.update().split(y, w, y, t.rows1).gpu_warps(w);
        }
        sum0.update().split(k, ko, ki, t.step).reorder({ki, x, y, w, ko});
        sum0.update().tensorize(x, y, ki, TensorInstruction::MMA);
        sum1.update().split(r, ro, ri, sizes.columns0).reorder({ri, x, y, w, ro});
        sum1.update().tensorize(x, y, ri, TensorInstruction::MMA);
        stage(t);
    }
    // The result of the first product is in the memory of the block.
    void schedule_in_memory(const ChainTiles &t) {
        d1.tile(x, y, xi, yi, sizes.columns1, t.rows).gpu_blocks(x, y);
        d1.tile(xi, yi, wx, wy, xi, yi, t.columns1, t.rows1).gpu_warps(wx, wy);
        d0.compute_at(d1, x).store_in(MemoryType::GPUShared);
        d0.tile(x, y, wx, wy, x, y, t.columns0, t.rows0).gpu_warps(wx, wy);
        share(sum0, t.columns0, t.rows0);
        sum0.update().split(k, ko, ki, t.step).reorder({ki, x, y, wx, wy, ko});
        sum0.update().tensorize(x, y, ki, TensorInstruction::MMA);
        share(sum1, t.columns1, t.rows1);
        sum1.update().split(r, ro, ri, t.step).reorder({ri, x, y, wx, wy, ro});
        sum1.update().tensorize(x, y, ri, TensorInstruction::MMA);
        stage(t);
    }

    // In registers, for Hopper: a block has the weights in its memory for all of its tiles.
    void schedule_for_hopper(const ChainTiles &t) {
        d1.bound(x, 0, sizes.columns1).split(y, y, yi, t.rows).reorder(x, yi, y);
        d1.gpu_blocks(y).persistent().warp_specialize(40, 232);
        d1.split(yi, w, yi, t.rows1).gpu_warpgroups(w);
        for (Func sum : {sum0, sum1}) {
            sum.compute_at(d1, y).store_in(MemoryType::Tile).split(y, w, y, t.rows1);
            sum.gpu_warpgroups(w);
            sum.update().split(y, w, y, t.rows1).gpu_warpgroups(w);
        }
        sum0.update().split(k, ko, ki, t.step).reorder({ki, x, y, w, ko});
        sum0.update().tensorize(x, y, ki, TensorInstruction::WGMMA);
        sum1.update().reorder(r.x, x, y, w).tensorize(x, y, r.x, TensorInstruction::WGMMA);
        a0.in().compute_at(sum0, ko);
        for (Func f : {b0.in(), b1.in()}) f.compute_at(d1, y);
        for (Func f : {a0.in(), b0.in(), b1.in()})
            f.store_in(MemoryType::GPUShared).async().ring_buffer(t.stages);
    }

private:
    void share(Func sum, int columns, int rows) {
        sum.compute_at(d1, x).store_in(MemoryType::Tile);
        sum.tile(x, y, wx, wy, x, y, columns, rows).gpu_warps(wx, wy);
        sum.update().tile(x, y, wx, wy, x, y, columns, rows).gpu_warps(wx, wy);
    }
    void stage(const ChainTiles &t) {
        for (Func f : {a0.in(), b0.in()}) f.compute_at(sum0, ko);
        b1.in().compute_at(sum1, ro);
        for (Func f : {a0.in(), b0.in(), b1.in()})
            f.store_in(MemoryType::GPUShared).async().ring_buffer(t.stages);
    }
    Var x{"x"}, y{"y"}, xi{"xi"}, yi{"yi"}, w{"w"}, wx{"wx"}, wy{"wy"};
    RVar ko{"ko"}, ki{"ki"}, ro{"ro"}, ri{"ri"};
};

// Two convolutions, padded by zeros; the second one has one tap. Dimensions: a0(c, x, y, n),
// b0(c, s, r, k), b1(c, k), c1(k, x, y, n), d1(k, x, y, n).
struct BackToBackConvolution : Chain {
    RDom sum, i;
    Func padded, weights{"weights"};  // weights: b0 by taps, which the blocks copy

    BackToBackConvolution(const ChainSizes &z, Type element)
        : Chain(z, element, 4), sum(0, z.channels, 0, z.taps, 0, z.taps, "sum"),
          i(0, z.columns0, "i") {
        const Expr none;
        padded = BoundaryConditions::constant_exterior(
            a0, cast(element, 0), {{none, none}, {0, z.size}, {0, z.size}, {none, none}});
        const Expr x = q + s - z.taps / 2, y = p + r - z.taps / 2;
        Var vc("vc"), vs("vs"), vr("vr");
        weights(vc, k, vs, vr) = b0(vc, vs, vr, k);
        sum0(k, q, p, n) += product(padded(c, x, y, n), weights(c, k, s, r));
        d0(k, q, p, n) = rectified(alpha0 * cast<float>(sum0(k, q, p, n)));
        sum1(k, q, p, n) += product(d0(i, q, p, n), b1(i, k));
        d1(k, q, p, n) = rectified(second(sum1(k, q, p, n), c1(k, q, p, n)));
    }

    void schedule_in_registers(const ChainTiles &t) {
        over_blocks(t);
        d1.split(pi, w, pi, t.rows1 / places).gpu_warps(w);
        for (Func of : {sum0, sum1}) {
            of.compute_at(d1, q).store_in(MemoryType::Tile).split(p, w, p, t.rows1 / places);
            of.gpu_warps(w);
            of.update().split(p, w, p, t.rows1 / places).gpu_warps(w);
        }
        sum0.update().split(c, co, ci, t.step).fuse(s, r, rs).fuse(co, rs, o);
        sum0.update().reorder({ci, k, q, p, w, o});
        sum1.update().split(i, io, ii, sizes.columns0).reorder({ii, k, q, p, w, io});
        tensorize(t);
    }
    void schedule_in_memory(const ChainTiles &t) {
        over_blocks(t);
        d1.tile(k, pi, wk, w, k, pi, t.columns1, t.rows1 / places).reorder({k, qi, pi, wk, w});
        d1.gpu_warps(wk, w);
        d0.compute_at(d1, q).store_in(MemoryType::GPUShared);
        d0.tile(k, p, wk, w, k, p, t.columns0, t.rows0 / places).reorder({k, q, p, wk, w});
        d0.gpu_warps(wk, w);
        share(sum0, t.columns0, t.rows0);
        share(sum1, t.columns1, t.rows1);
        sum0.update().split(c, co, ci, t.step).fuse(s, r, rs).fuse(co, rs, o);
        sum0.update().reorder({ci, k, q, p, wk, w, o});
        sum1.update().split(i, io, ii, t.step).reorder({ii, k, q, p, wk, w, io});
        tensorize(t);
    }

    // In registers, for Hopper: a block has 8 x 8 places of some images, and the weights in its
    // memory for all of its tiles.
    void schedule_for_hopper(const ChainTiles &t) {
        d1.bound(k, 0, sizes.columns1).tile(q, p, qi, pi, places, places);
        d1.split(n, n, ni, t.rows / t.rows1).reorder({k, qi, pi, ni, q, p, n});
        d1.gpu_blocks(q, p, n).persistent().warp_specialize(40, 232);
        d1.gpu_warpgroups(ni);
        for (Func of : {sum0, sum1}) {
            of.compute_at(d1, q).store_in(MemoryType::Tile).gpu_warpgroups(n);
            of.update().gpu_warpgroups(n);
        }
        sum0.update().fuse(s, r, rs).reorder({c, k, q, p, n, rs});
        sum1.update().reorder({i, k, q, p, n});
        const TensorInstruction wgmma = TensorInstruction::WGMMA;
        sum0.update().tensorize(k, q, c, wgmma).tensorize(p, wgmma);
        sum1.update().tensorize(k, q, i, wgmma).tensorize(p, wgmma);
        padded.compute_at(sum0, rs);
        for (Func f : {weights, b1.in()}) f.compute_at(d1, q);
        for (Func f : {padded, weights, b1.in()})
            f.store_in(MemoryType::GPUShared).async().ring_buffer(t.stages);
    }

private:
    static constexpr int places = 8;  // side by side, of a block

    void over_blocks(const ChainTiles &t) {
        d1.bound(k, 0, sizes.columns1).tile(q, p, qi, pi, places, t.rows / places);
        d1.reorder(k, qi, pi, q, p, n).gpu_blocks(q, p, n);
    }
    void share(Func of, int columns, int rows) {
        of.compute_at(d1, q).store_in(MemoryType::Tile);
        of.tile(k, p, wk, w, k, p, columns, rows / places).reorder({k, q, p, wk, w});
        of.gpu_warps(wk, w);
        of.update().tile(k, p, wk, w, k, p, columns, rows / places).gpu_warps(wk, w);
    }
    void tensorize(const ChainTiles &t) {
        const TensorInstruction mma = TensorInstruction::MMA;
        sum0.update().tensorize(k, q, ci, mma).tensorize(p, mma);
        sum1.update().tensorize(k, q, ii, mma).tensorize(p, mma);
        for (Func f : {padded, weights}) f.compute_at(sum0, o);
        b1.in().compute_at(sum1, io);
        for (Func f : {padded, weights, b1.in()})
            f.store_in(MemoryType::GPUShared).async().ring_buffer(t.stages);
    }
    RVar c{sum.x}, s{sum.y}, r{sum.z};
    Var k{"k"}, q{"q"}, p{"p"}, n{"n"}, qi{"qi"}, pi{"pi"}, ni{"ni"}, w{"w"}, wk{"wk"};
    RVar co{"co"}, ci{"ci"}, rs{"rs"}, o{"o"}, io{"io"}, ii{"ii"};
};

// One of the sixteen programs: of what, where d0 is, and for which GPUs. Those of sm_90 are more.
struct ChainProgram {
    const char *name;
    bool is_convolution, is_in_memory;
    int bits;        // of an element: float16 or int8
    int capability;  // 75, 80 or 90
    ChainTiles tiles;
};

inline const std::vector<ChainProgram> &chain_programs() {
    static const std::vector<ChainProgram> all = {
        {"gemm f16 registers sm_75", false, false, 16, 75, {64, 32, 64, 32, 128, 32, 2}},
        {"gemm f16 registers sm_80", false, false, 16, 80, {64, 16, 64, 16, 128, 32, 3}},
        {"gemm f16 memory sm_75", false, true, 16, 75, {64, 32, 32, 64, 64, 32, 2}},
        {"gemm f16 memory sm_80", false, true, 16, 80, {64, 32, 32, 64, 64, 32, 3}},
        {"gemm s8 registers sm_75", false, false, 8, 75, {64, 32, 64, 32, 128, 32, 2}},
        {"gemm s8 registers sm_80", false, false, 8, 80, {64, 16, 64, 16, 128, 64, 3}},
        {"gemm s8 memory sm_75", false, true, 8, 75, {64, 32, 32, 64, 64, 32, 2}},
        {"gemm s8 memory sm_80", false, true, 8, 80, {64, 32, 32, 64, 64, 64, 3}},
        {"convolution f16 registers sm_75", true, false, 16, 75, {64, 16, 64, 16, 128, 32, 2}},
        {"convolution f16 registers sm_80", true, false, 16, 80, {64, 32, 64, 32, 128, 32, 3}},
        {"convolution f16 memory sm_75", true, true, 16, 75, {64, 32, 32, 64, 64, 32, 2}},
        {"convolution f16 memory sm_80", true, true, 16, 80, {64, 32, 32, 64, 64, 32, 3}},
        {"convolution s8 registers sm_75", true, false, 8, 75, {64, 16, 64, 16, 128, 32, 2}},
        {"convolution s8 registers sm_80", true, false, 8, 80, {64, 16, 64, 16, 128, 64, 3}},
        {"convolution s8 memory sm_75", true, true, 8, 75, {64, 32, 32, 64, 64, 32, 2}},
        {"convolution s8 memory sm_80", true, true, 8, 80, {64, 32, 32, 64, 64, 64, 3}},
    };
    return all;
}

// For GPUs of compute capability 9.0 alone: by wgmma, in registers.
inline const std::vector<ChainProgram> &hopper_programs() {
    static const std::vector<ChainProgram> all = {
        {"gemm f16 registers sm_90", false, false, 16, 90, {128, 64, 64, 64, 128, 64, 6}},
        {"gemm f16 registers sm_90 256", false, false, 16, 90, {128, 64, 64, 64, 256, 64, 5}},
        {"convolution f16 registers sm_90", true, false, 16, 90, {128, 64, 64, 64, 128, 64, 6}},
        {"convolution f16 registers sm_90 256", true, false, 16, 90, {128, 64, 64, 64, 256, 64, 5}},
    };
    return all;
}

}  // namespace tessera::apps
