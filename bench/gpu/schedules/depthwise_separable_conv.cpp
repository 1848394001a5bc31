// Smaller tiles, whose places are more blocks, and filtered channels loaded four at a time.
#include "depthwise_separable_conv/pipeline.h"
#include "depthwise_separable_conv/reference.h"

#include "gpu/schedules/schedules.h"

namespace tessera::schedules {

struct DepthwiseSeparableConv : apps::DepthwiseSeparableConv {
    using apps::DepthwiseSeparableConv::DepthwiseSeparableConv;

    // `steps` quads of channels are summed up in a row. A block has all channels of `width` x
    // `height` places, a thread 4 channels of `across` x `down`. In the first half a thread has 2 x
    // 2 places of `lanes` channels.
    void schedule(int width, int height, int across, int down, int lanes, int steps = 1) {
        Var xi("xi"), yi("yi"), xp("xp"), yp("yp"), cov("cov"), di("di");
        RVar quads("quads"), quad("quad");
        output.split(co, co, cov, 4)
            .tile(x, y, xi, yi, width, height)
            .tile(xi, yi, xp, yp, across, down)
            .reorder({cov, xp, yp, co, xi, yi, x, y, n})
            .vectorize(cov)
            .unroll(xp)
            .unroll(yp)
            .gpu_blocks(x, y, n)
            .gpu_threads(co, xi, yi);
        pointwise.compute_at(output, co).vectorize(co).unroll(x).unroll(y);
        pointwise.update()
            .split(channel, quads, quad, 4)
            .reorder({co, quad, x, y, quads})
            .vectorize(co)
            .unroll(quads, steps)
            .unroll(quad)
            .unroll(x)
            .unroll(y);
        Func filtered = depthwise.in(pointwise), read = filtered.in(pointwise);
        filtered.compute_at(output, x)
            .split(d, d, di, lanes)
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

}  // namespace tessera::schedules

#define TESSERA_DEPTHWISE(name, ...)                                                               \
    namespace tessera::name {                                                                      \
    using namespace apps;                                                                          \
    struct DepthwiseSeparableConv : schedules::DepthwiseSeparableConv {                            \
        using schedules::DepthwiseSeparableConv::DepthwiseSeparableConv;                           \
        void schedule(const Target &) {                                                            \
            schedules::DepthwiseSeparableConv::schedule(__VA_ARGS__);                              \
        }                                                                                          \
    };                                                                                             \
    }

TESSERA_DEPTHWISE(tile_8x8, 8, 8, 2, 1, 4)
#define apps tile_8x8
#include "depthwise_separable_conv/generator.cpp"
#undef apps

TESSERA_DEPTHWISE(tile_8x8_pairs, 8, 8, 1, 1, 2)
#define apps tile_8x8_pairs
#include "depthwise_separable_conv/generator.cpp"
#undef apps

TESSERA_DEPTHWISE(tile_8x4, 8, 4, 2, 1, 4)
#define apps tile_8x4
#include "depthwise_separable_conv/generator.cpp"
#undef apps

TESSERA_DEPTHWISE(tile_8x4_single, 8, 4, 1, 1, 2)
#define apps tile_8x4_single
#include "depthwise_separable_conv/generator.cpp"
#undef apps

TESSERA_DEPTHWISE(tile_4x4, 4, 4, 1, 1, 2)
#define apps tile_4x4
#include "depthwise_separable_conv/generator.cpp"
#undef apps

TESSERA_DEPTHWISE(tile_4x4_lane, 4, 4, 1, 1, 1)
#define apps tile_4x4_lane
#include "depthwise_separable_conv/generator.cpp"
#undef apps

TESSERA_DEPTHWISE(tile_8x8_unrolled, 8, 8, 2, 1, 4, 8)
#define apps tile_8x8_unrolled
#include "depthwise_separable_conv/generator.cpp"
#undef apps

TESSERA_DEPTHWISE(tile_8x4_single_unrolled, 8, 4, 1, 1, 2, 8)
#define apps tile_8x4_single_unrolled
#include "depthwise_separable_conv/generator.cpp"
#undef apps

TESSERA_DEPTHWISE(tile_4x4_unrolled, 4, 4, 1, 1, 2, 8)
#define apps tile_4x4_unrolled
#include "depthwise_separable_conv/generator.cpp"
#undef apps
