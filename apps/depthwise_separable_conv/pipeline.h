// Two layers of a neural network in one: a 3x3 convolution of each channel by itself, then a 1x1
// convolution over all channels, bias and ReLU. The channels are innermost ("NHWC").
#pragma once

#include <tessera.h>

namespace tessera::apps {

struct DepthwiseSeparableConv {
    Func padded{"padded"}, depthwise{"depthwise"}, pointwise{"pointwise"},
        output{"depthwise_separable_conv"};
    Var d{"d"}, co{"co"}, x{"x"}, y{"y"}, n{"n"};
    RDom tap{0, 3, 0, 3, "tap"}, channel;

    // Dimensions: input (d, x, y, n), depthwise_filter (d, x, y), pointwise_filter (co, d), bias
    // (co). `width` and `height` are the input's; around it are zeros.
    DepthwiseSeparableConv(const Func &input, const Expr &width, const Expr &height,
                           const Func &depthwise_filter, const Func &pointwise_filter,
                           const Func &bias, int channels)
        : channel(0, channels, "channel") {
        padded(d, x, y, n) = BoundaryConditions::constant_exterior(
            input, 0.0f, {{}, {0, width}, {0, height}, {}})(d, x, y, n);
        depthwise(d, x, y, n) +=
            depthwise_filter(d, tap.x, tap.y) * padded(d, x + tap.x - 1, y + tap.y - 1, n);
        pointwise(co, x, y, n) = bias(co);
        pointwise(co, x, y, n) += pointwise_filter(co, channel) * depthwise(channel, x, y, n);
        output(co, x, y, n) = max(0.0f, pointwise(co, x, y, n));
    }

    void schedule(const Target &target) {
        if (target.has_gpu_feature()) return schedule_for_gpu();
        const int vector = target.natural_vector_size<float>();
        Var xi("xi"), yi("yi"), coi("coi"), strip("strip"), task("task"), di("di"), pair("pair");
        output.split(co, co, coi, vector)
            .tile(x, y, xi, yi, 2, 4)  // 8 vectors of sums, with registers left for what they read
            .reorder(coi, xi, yi, co, x, y, n)
            .vectorize(coi)
            .unroll(xi)
            .unroll(yi)
            .split(y, strip, y, 2, TailStrategy::GuardWithIf)
            .fuse(strip, n, task)  // a task is 8 rows of one image
            .parallel(task);
        pointwise
            .compute_at(output, co)  // the sums of a tile in registers
            .vectorize(co, vector)
            .unroll(x)
            .unroll(y);
        pointwise.update()
            .reorder(co, x, y, channel)  // one vector of the filter for 8 places
            .vectorize(co, vector)
            .unroll(x)
            .unroll(y)
            .unroll(channel, 2);
        Func filtered = depthwise.in(pointwise);
        filtered
            .compute_at(output, x)  // all channels of a tile, for all outputs
            .split(d, d, di, vector)
            .split(d, d, pair, 2)
            .reorder(di, x, y, pair, d)
            .vectorize(di)
            .unroll(pair)  // the sums of one vector of channels beside the loads of the next
            .unroll(x)
            .unroll(y);
        depthwise
            .compute_at(filtered, pair)  // 8 vectors of sums again
            .vectorize(d, vector)
            .unroll(x)
            .unroll(y);
        depthwise.update()
            .reorder(d, x, y, tap.x, tap.y)
            .vectorize(d, vector)
            .unroll(x)
            .unroll(y)
            .unroll(tap.x)   // all nine taps at once: what places share is loaded once, and
            .unroll(tap.y);  // `padded`, computed inline, tests for edges in border tiles alone
    }

private:
    // A block has all channels of 8 x 8 places, a thread 4 channels of 2 places, and of what is
    // filtered first 4 channels of 2 x 2 places.
    void schedule_for_gpu() {
        Var xi("xi"), yi("yi"), xp("xp"), yp("yp"), cov("cov"), di("di");
        RVar quads("quads"), quad("quad");
        output.split(co, co, cov, 4)
            .tile(x, y, xi, yi, 8, 8)
            .split(xi, xi, xp, 2)
            .reorder({cov, xp, co, xi, yi, x, y, n})
            .vectorize(cov)
            .unroll(xp)
            .gpu_blocks(x, y, n)
            .gpu_threads(co, xi, yi);
        pointwise.compute_at(output, co).vectorize(co).unroll(x);
        pointwise.update()
            .split(channel, quads, quad, 4)
            .reorder(co, quad, x, quads)
            .vectorize(co)
            .unroll(quads, 8)
            .unroll(quad)
            .unroll(x);
        // All channels of a tile, in the block's memory, of which four are loaded at once.
        Func filtered = depthwise.in(pointwise), read = filtered.in(pointwise);
        filtered.compute_at(output, x)
            .split(d, d, di, 4)
            .tile(x, y, xp, yp, 2, 2)
            .reorder(di, xp, yp, d, x, y)
            .vectorize(di)
            .unroll(xp)
            .unroll(yp)
            .gpu_threads(d, x, y);
        depthwise.compute_at(filtered, d).vectorize(d).unroll(x).unroll(y);
        depthwise.update()
            .reorder(d, x, y, tap.x, tap.y)
            .vectorize(d)
            .unroll(x)
            .unroll(y)
            .unroll(tap.x)
            .unroll(tap.y);
        read.compute_at(pointwise, quads).vectorize(d, 4).unroll(d).unroll(x).unroll(y);
    }
};

}  // namespace tessera::apps
