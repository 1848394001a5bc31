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
        : r(0, input_channels, 0, 3, 0, 3, "r") {
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
        Var coi("coi"), xi("xi"), yi("yi"), rows("rows"), task("task");
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
    void schedule_for_gpu() {
        Var coi("coi"), cov("cov"), xi("xi"), yi("yi"), rows("rows"), block("block");
        RVar taken("taken");
        // A block has all 128 channels of 4 x 8 places, a thread 4 of them of 8 places in a row.
        output.split(co, co, coi, 128)
            .split(coi, coi, cov, 4)
            .tile(x, y, xi, yi, 8, 4, TailStrategy::GuardWithIf)
            .reorder(cov, xi, coi, yi, x, y, n, co)
            .vectorize(cov)
            .unroll(xi)
            .fuse(y, n, rows)
            .fuse(rows, co, block)
            .gpu_blocks(x, block)
            .gpu_threads(coi, yi);
        conv.compute_at(output, coi).vectorize(co).unroll(x);
        conv.update()
            .split(r.x, r.x, taken, 4)
            .reorder(co, x, taken, r.x, r.y, r.z)
            .vectorize(co)
            .unroll(x)
            .unroll(taken);
    }
};

}  // namespace tessera::apps
