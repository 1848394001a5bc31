// A layer of a neural network: 3x3 convolution over all channels, bias and ReLU. The channels are
// innermost ("NHWC"): a vector holds output channels.
#pragma once

#include <tessera.h>

namespace tessera::apps {

struct ConvLayer {
    Func conv{"conv"}, output{"conv_layer"};
    Var co{"co"}, x{"x"}, y{"y"}, n{"n"};
    RDom r;

    // Dimensions: input (ci, x, y, n), filter (co, ci, x, y), bias (co).
    ConvLayer(const Func &input, const Func &filter, const Func &bias, int input_channels)
        : r(0, input_channels, 0, 3, 0, 3, "r"), input(input), filter(filter) {
        conv(co, x, y, n) = bias(co);
        conv(co, x, y, n) += filter(co, r.x, r.y, r.z) * input(r.x, x + r.y, y + r.z, n);
        output(co, x, y, n) = max(0.0f, conv(co, x, y, n));
    }

    void schedule(const Target &target) {
        if (target.has_gpu_feature()) return schedule_for_gpu();
        // With AVX-512, 2 vectors of channels x 2 places x 5 rows are 20 of the 32 registers: a
        // vector of the filter, which comes from the second cache, is used 10 times per load.
        // Sapphire Rapids does two multiply-adds a cycle and waits for loads: 4 x 3 x 2 takes 10
        // for 24 of them, where the other tile takes 12 for 20.
        const int vector = target.natural_vector_size<float>();
        const bool waits_for_loads = target.has_feature(Target::AVX512_SapphireRapids);
        const int vectors = waits_for_loads ? 4 : 2, lines = waits_for_loads ? 2 : 5;
        const int places = waits_for_loads ? 3 : vector >= 16 ? 2 : 1;
        Var coi("coi"), rows("rows"), task("task");
        output.split(co, co, coi, vectors * vector)
            .tile(x, y, xi, yi, places, lines)
            .reorder(coi, xi, yi, x, y, n, co)
            .vectorize(coi, vector)
            .unroll(coi)
            .unroll(xi)
            .unroll(yi)
            .fuse(y, n, rows)      // a task is a row of tiles of one image and block of channels:
            .fuse(rows, co, task)  // neighbours in time share the block's filter in the cache
            .parallel(task);
        output.prefetch(output, x, x, 0);  // while the sums are computed: the stores would wait
        conv.compute_at(output, x)         // the whole tile of sums lives in registers
            .vectorize(co, vector)
            .unroll(co)
            .unroll(x)
            .unroll(y);
        conv.update()
            .reorder(co, x, y, r.x, r.y, r.z)  // taps outside: input channels lie side by side
            .vectorize(co, vector)
            .unroll(co)
            .unroll(x)
            .unroll(y)
            .unroll(r.x, 2);
    }

private:
    // A block has 128 channels of 20 x 4 places, a thread two groups of 4 channels, 64 apart, of 5
    // places in a row: the sums are in its registers. The block's memory holds what it reads of 8
    // input channels.
    void schedule_for_gpu() {
        Var block("block"), rows("rows"), quad("quad"), turn("turn"), turn_x("turn_x"),
            turn_y("turn_y"), u("u"), v("v");
        RVar chunk("chunk"), taken("taken"), quads("quads");
        const TailStrategy guard = TailStrategy::GuardWithIf;
        output.split(co, block, co, 128).tile(x, y, xi, yi, 20, 4, guard).fuse(y, n, rows);
        output.fuse(rows, block, block);
        share_tile(output, xi)
            .reorder({cv, group, xi, ct, xt, yi, x, block})
            .gpu_blocks(x, block)
            .gpu_threads(ct, xt, yi);
        conv.compute_at(output, x).store_in(MemoryType::Register);
        share_tile(conv, x).reorder({cv, group, x, ct, xt, y}).gpu_threads(ct, xt, y);
        share_tile(conv.update().split(r.x, chunk, taken, 8).split(taken, quads, taken, 4), x)
            .reorder({cv, group, x, taken, r.y, quads, r.z, ct, xt, y, chunk})
            .unroll(r.y)  // three places of the filter share what they read
            .unroll(taken)
            .gpu_threads(ct, xt, y);
        Func staged = input.in(conv), window = staged.in(conv), weights = filter.in(conv);
        const std::vector<Var> place = staged.args(), weight = weights.args();
        window.compute_at(conv, quads).vectorize(place[0]).unroll(place[1]);  // four by one load
        // Work that threads repeat is a loop inside theirs: they wait for one another after each
        // turn of a loop around them.
        staged.compute_at(conv, chunk)
            .split(place[1], turn_x, u, 4, guard)
            .split(place[2], turn_y, v, 4, guard)
            .reorder({turn_x, turn_y, place[0], u, v})
            .unroll(turn_x)
            .unroll(turn_y)
            .gpu_threads(place[0], u, v);
        weights.compute_at(conv, chunk)
            .split(weight[0], turn, weight[0], 64)
            .split(weight[0], u, quad, 4)
            .split(weight[1], turn_y, v, 4)
            .fuse(turn, turn_y, turn)  // four of eight channels
            .fuse(weight[2], weight[3], tap)
            .reorder({quad, tap, u, v, turn})
            .vectorize(quad)
            .gpu_threads(u, v, turn);
    }

    // The part of a thread.
    Stage share_tile(Stage stage, const Var &of_row) {
        return stage.split(co, group, co, 64)
            .split(co, ct, cv, 4)
            .split(of_row, xt, of_row, 5, TailStrategy::GuardWithIf)
            .vectorize(cv)
            .unroll(group)
            .unroll(of_row);
    }

    Func input, filter;
    Var xi{"xi"}, yi{"yi"}, group{"group"}, ct{"ct"}, cv{"cv"}, xt{"xt"}, tap{"tap"};
};

}  // namespace tessera::apps
