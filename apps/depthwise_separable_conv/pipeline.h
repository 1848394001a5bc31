// Two layers of a neural network in one: a 3x3 convolution of each channel by itself, then a 1x1
// convolution over all channels, bias and ReLU. The channels are innermost ("NHWC").
#pragma once

#include <tessera.h>

namespace tessera::apps {

struct DepthwiseSeparableConv {
    Func depthwise{"depthwise"}, pointwise{"pointwise"}, output{"depthwise_separable_conv"};
    Var d{"d"}, co{"co"}, x{"x"}, y{"y"}, n{"n"};
    RDom tap{0, 3, 0, 3, "tap"}, channel;

    // Dimensions: input (d, x, y, n), depthwise_filter (d, x, y), pointwise_filter (co, d), bias
    // (co). `width` and `height` are the input's; around it are zeros.
    DepthwiseSeparableConv(const Func &input, const Expr &width, const Expr &height,
                           const Func &depthwise_filter, const Func &pointwise_filter,
                           const Func &bias, int channels)
        : channel(0, channels, "channel") {
        Func padded =
            BoundaryConditions::constant_exterior(input, 0.0f, {{}, {0, width}, {0, height}, {}});
        depthwise(d, x, y, n) +=
            depthwise_filter(d, tap.x, tap.y) * padded(d, x + tap.x - 1, y + tap.y - 1, n);
        pointwise(co, x, y, n) = bias(co);
        pointwise(co, x, y, n) += pointwise_filter(co, channel) * depthwise(channel, x, y, n);
        output(co, x, y, n) = max(0.0f, pointwise(co, x, y, n));
    }

    void schedule(const Target &target) {
        const int vector = target.natural_vector_size<float>();
        const int places = vector >= 16 ? 8 : 4;
        Var xi("xi"), yi("yi"), coi("coi"), strip("strip"), task("task");
        output.split(co, co, coi, vector, TailStrategy::GuardWithIf)
            .tile(x, y, xi, yi, places, 2, TailStrategy::GuardWithIf)
            .reorder(coi, xi, yi, co, x, y, n)
            .vectorize(coi)
            .unroll(xi)
            .unroll(yi)
            .split(y, strip, y, 7, TailStrategy::GuardWithIf)
            .fuse(strip, n, task)  // a task is 14 rows of an image
            .parallel(task);
        pointwise
            .compute_at(output, co)  // all sums of a tile in registers
            .vectorize(co, vector)
            .unroll(x)
            .unroll(y);
        pointwise.update()
            .reorder(co, x, y, channel)  // one vector of the filter for sixteen places
            .vectorize(co, vector)
            .unroll(x)
            .unroll(y)
            .unroll(channel, 2);
        depthwise
            .compute_at(output, x)  // recomputed for no one: tiles do not overlap in it
            .vectorize(d, vector)
            .unroll(x)
            .unroll(y);
        depthwise.update()
            .reorder(d, x, y, tap.x, tap.y)
            .vectorize(d, vector)
            .unroll(x)
            .unroll(y)
            .unroll(tap.x)
            .unroll(tap.y);
    }
};

}  // namespace tessera::apps
