// Convolutions on tensor cores, of images by channels (NHWC) and filters by channels (KRSC): as an
// implicit product of matrices, whose rows are places of the result, columns output channels, and
// whose sum runs over taps and input channels.
#pragma once

#include "autoscheduler/cost/tensor_tiles.h"

#include <algorithm>
#include <tessera.h>
#include <vector>

namespace tessera::apps {

using autoscheduler::possible_places;
using autoscheduler::TensorMachine;
using autoscheduler::TensorShape;
using autoscheduler::TensorTiles;

struct TensorConvShape {
    int images, channels, height, width;  // of the input
    int filters, rows, columns;           // of the filter
    int stride = 1, padding = 0;
    int p() const { return (height + 2 * padding - rows) / stride + 1; }
    int q() const { return (width + 2 * padding - columns) / stride + 1; }
    // Few channels are no rows of 16 bytes: then the sum runs over taps and channels at once.
    bool has_few_channels() const { return channels % 8 != 0; }
    int depth() const { return channels * columns * rows; }
};

// A block's tile: places of so many images, in rows and columns, and output channels.
struct TensorConvTiles {
    int q, p, images;
    TensorTiles of_product;
};

// Returns tiles that have room, the fastest ones by the model of products first: that of all shapes
// of places whose product is a number of rows.
inline std::vector<TensorConvTiles> possible_tiles(const TensorConvShape &s, int operand_bytes = 2,
                                                   const TensorMachine &machine = {}) {
    const int step = 128 / operand_bytes;
    TensorShape product;
    product.columns = s.filters;
    product.depth = s.has_few_channels()
                        ? s.depth()
                        : (s.channels + step - 1) / step * step * s.rows * s.columns;
    product.operand_bytes = operand_bytes;
    product.slice_units = s.channels % step == 0 ? s.channels / step : 1;
    std::vector<TensorConvTiles> all;
    for (const auto &[sizes, tiles] :
         possible_places({s.q(), s.p(), s.images}, product, true, machine))
        all.push_back({sizes[0], sizes[1], sizes[2], tiles});
    return all;
}

// out(k, q, p, n) = conv(k, q, p, n), or its positive part.
struct TensorConv {
    TensorConvShape shape;
    Var k{"k"}, q{"q"}, p{"p"}, n{"n"};
    RDom sum;
    ImageParam in{Float(16), 4, "in"}, filter{Float(16), 4, "filter"};
    Func padded, weights, patch{"patch"}, flat_weights{"flat_weights"}, conv{"conv"}, out{"out"};
    std::vector<Func> staged;  // what holds the operands of a step

    explicit TensorConv(const TensorConvShape &of, bool relu = false)
        : shape(of),
          sum(of.has_few_channels() ? RDom(0, of.depth(), "sum")
                                    : RDom(0, of.channels, 0, of.columns, 0, of.rows, "sum")) {
        const Expr none;
        padded = BoundaryConditions::constant_exterior(
            in, float16_t(0.0f),
            {{none, none},
             {0, of.width},
             {0, of.height},
             of.images > 1 ? Range(0, of.images) : Range(none, none)});
        weights = BoundaryConditions::constant_exterior(
            filter, float16_t(0.0f), {{none, none}, {none, none}, {none, none}, {0, of.filters}});
        const auto at = [&](const Expr &c, const Expr &s, const Expr &r) {
            return padded(c, q * of.stride + s - of.padding, p * of.stride + r - of.padding, n);
        };
        Var vc("vc"), vs("vs"), vr("vr");
        if (of.has_few_channels()) {
            const Expr c = vc % of.channels, s = vc / of.channels % of.columns,
                       r = vc / (of.channels * of.columns);
            patch(vc, q, p, n) = at(c, s, r);
            flat_weights(vc, k) = weights(c, s, r, k);
            staged = {patch, flat_weights};
            conv(k, q, p, n) +=
                cast<float>(patch(sum, q, p, n)) * cast<float>(flat_weights(sum, k));
        } else {
            const RVar c = sum.x, s = sum.y, r = sum.z;
            patch(vc, q, p, n, vs, vr) = at(vc, vs, vr);
            staged = {of.stride == 1 ? padded : patch, weights};
            const Expr place = of.stride == 1 ? at(c, s, r) : Expr(patch(c, q, p, n, s, r));
            conv(k, q, p, n) += cast<float>(place) * cast<float>(weights(c, s, r, k));
        }
        const Expr all = conv(k, q, p, n);
        out(k, q, p, n) = cast<float16_t>(relu ? max(all, 0.0f) : all);
        in.dim(0).set_bounds(0, of.channels);
        in.dim(1).set_bounds(0, of.width);
        in.dim(2).set_bounds(0, of.height);
        filter.dim(0).set_bounds(0, of.channels);
        out.bound(k, 0, of.filters).bound(q, 0, of.q()).bound(p, 0, of.p());
        out.bound(n, 0, of.images);
    }

    void schedule(const TensorConvTiles &t) {
        if (t.of_product.slices > 1)
            schedule_slices(t);
        else
            schedule_tiles(out, conv, t);
    }

private:
    // The sum over input channels in slices, which blocks of their own compute; another kernel adds
    // them up.
    void schedule_slices(const TensorConvTiles &t) {
        RVar c = sum.x, slice("slice");
        Var of("of"), v("v"), lane("lane");
        Func parts = conv.update()
                         .split(c, slice, c, shape.channels / t.of_product.slices)
                         .rfactor(slice, of);
        schedule_tiles(parts.in().compute_root(), parts, t);
        // Each thread has four channels.
        out.split(k, k, v, 4).vectorize(v).fuse(k, q, k);
        out.split(k, k, lane, 128, TailStrategy::GuardWithIf);
        out.gpu_blocks(k, p, n).gpu_threads(lane);
        conv.compute_at(out, lane).vectorize(k, 4).update().reorder(k, slice).vectorize(k, 4);
        conv.update().unroll(slice);
    }
    // `to` has the elements of `sums`, in tiles.
    void schedule_tiles(Func to, Func sums, const TensorConvTiles &t) {
        Var ki("ki"), qi("qi"), pi("pi"), ni("ni"), w("w");
        const std::vector<RVar> over = sums.rvars(0);
        RVar c = over[0], co("co"), ci("ci"), rs("rs"), step("step");
        const TailStrategy guard = TailStrategy::GuardWithIf;
        // The loops over places of a tile, innermost first, where it has several.
        struct Places {
            Var of_sums, of_result;
            int size;
        };
        std::vector<Places> places;
        for (const Places &all : {Places{q, qi, t.q}, {p, pi, t.p}, {n, ni, t.images}}) {
            if (all.size == 1) continue;
            to.split(all.of_sums, all.of_sums, all.of_result, all.size, guard);
            sums.bound_extent(all.of_sums, all.size);
            places.push_back(all);
        }
        // Warpgroups share the outermost of them that has enough iterations.
        const int shares = t.of_product.warpgroups;
        size_t shared = places.size() - 1;
        while (shared > 0 && places[shared].size % shares != 0) shared--;
        std::rotate(places.begin() + long(shared), places.begin() + long(shared) + 1, places.end());
        const Places &of_groups = places.back();
        const int each = of_groups.size / shares;

        std::vector<VarOrRVar> of_result = {ki}, of_sums = {k}, of_update = {ci, k};
        for (const Places &all : places) {
            of_result.emplace_back(all.of_result);
            of_sums.emplace_back(all.of_sums);
            of_update.emplace_back(all.of_sums);
        }
        std::vector<Var> blocks = to.args();
        of_result.insert(of_result.end(), blocks.begin(), blocks.end());
        to.split(k, k, ki, t.of_product.columns, guard).reorder(of_result).fuse(q, p, q);
        if (blocks.size() > 4) to.fuse(n, blocks[4], n);
        to.gpu_blocks(k, q, n).gpu_resident_blocks(t.of_product.resident);
        sums.compute_at(to, k).store_in(MemoryType::Tile).reorder(of_sums);
        sums.bound_extent(k, t.of_product.columns);
        Stage update = sums.update();
        if (over.size() == 1)
            update.split(c, step, ci, t.of_product.step);
        else
            update.split(c, co, ci, t.of_product.step)
                .fuse(over[1], over[2], rs)
                .fuse(rs, co, step);
        if (each == 1) {
            to.gpu_warpgroups(of_groups.of_result);
            sums.gpu_warpgroups(of_groups.of_sums);
            update.gpu_warpgroups(of_groups.of_sums);
        } else {
            to.gpu_warpgroups(of_groups.of_result, each);
            sums.gpu_warpgroups(of_groups.of_sums, each);
            update.split(of_groups.of_sums, w, of_groups.of_sums, each).gpu_warpgroups(w);
            of_update.emplace_back(w);
        }
        of_update.emplace_back(step);
        of_update.insert(of_update.end(), blocks.begin() + 4, blocks.end());
        update.reorder(of_update);
        const auto wgmma = TensorInstruction::WGMMA;
        update.tensorize(k, wgmma).tensorize(ci, wgmma);
        for (const Places &all : places)
            if (&all != &of_groups || each > 1) update.tensorize(all.of_sums, wgmma);
        for (Func f : staged) {
            f.compute_at(sums, step).store_in(MemoryType::GPUShared);
            f.async().ring_buffer(t.of_product.stages);
        }
    }
};

}  // namespace tessera::apps
