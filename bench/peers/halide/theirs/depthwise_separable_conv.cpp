// A block has 16 channels of 4 x 4 places, a thread one of 2 x 2.
#include "depthwise_separable_conv/pipeline.h"

#include "theirs.h"

namespace tessera::theirs {

struct DepthwiseSeparableConv : apps::DepthwiseSeparableConv {
    using apps::DepthwiseSeparableConv::DepthwiseSeparableConv;

    void schedule(const Target &) {
        Var xi("xi"), yi("yi"), xp("xp"), yp("yp"), coi("coi"), task("task");
        RVar quads("quads"), quad("quad");
        output.tile(x, y, xi, yi, 4, 4)
            .tile(xi, yi, xp, yp, 2, 2)
            .split(co, co, coi, 16)
            .fuse(co, n, task)
            .reorder({xp, yp, coi, xi, yi, x, y, task})
            .unroll(xp)
            .unroll(yp)
            .gpu_blocks(x, y, task)
            .gpu_threads(coi, xi, yi);
        pointwise.compute_at(output, coi).unroll(x).unroll(y);
        pointwise.update()
            .split(channel, quads, quad, 4)
            .reorder({quad, x, y, co, quads})
            .unroll(quad)
            .unroll(x)
            .unroll(y);
        Func stored = depthwise.in(pointwise), read = stored.in(pointwise);
        stored.compute_at(output, x)
            .tile(x, y, xp, yp, 2, 2)
            .reorder({xp, yp, d, x, y})
            .unroll(xp)
            .unroll(yp)
            .gpu_threads(d, x, y);
        depthwise.compute_at(stored, d).unroll(x).unroll(y);
        depthwise.update()
            .reorder({x, y, tap.x, tap.y, d})
            .unroll(x)
            .unroll(y)
            .unroll(tap.x)
            .unroll(tap.y);
        read.compute_at(pointwise, quads).vectorize(d, 4).unroll(d).unroll(x).unroll(y);
    }
};

}  // namespace tessera::theirs

#define apps theirs
#include "depthwise_separable_conv/generator.cpp"
