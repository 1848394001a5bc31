// A block is a warp: a lane has a channel of 5 x 5 places, whose sums are in registers.
#include "conv_layer/pipeline.h"

#include "theirs.h"

namespace tessera::theirs {

struct ConvLayer : apps::ConvLayer {
    ConvLayer(const Func &input, const Func &filter, const Func &bias, int channels)
        : apps::ConvLayer(input, filter, bias, channels), input(input) {}

    void schedule(const Target &) {
        Var xi("xi"), yi("yi"), lane("lane"), group("group");
        RVar chunk("chunk"), pairs("pairs"), pair("pair");
        output.tile(x, y, xi, yi, 5, 5)
            .split(co, co, lane, 32)
            .fuse(co, n, group)
            .reorder({xi, yi, lane, x, y, group})
            .unroll(xi)
            .unroll(yi)
            .gpu_lanes(lane)
            .gpu_blocks(x, y, group);
        conv.compute_at(output, x).store_in(MemoryType::Register);
        conv.gpu_lanes(co).unroll(x).unroll(y);
        conv.update()
            .split(r.x, chunk, pairs, 16)
            .split(pairs, pairs, pair, 2)
            .reorder({co, pair, x, y, r.y, r.z, pairs, chunk})
            .unroll(pair)
            .unroll(x)
            .unroll(y)
            .unroll(r.y)
            .unroll(r.z)
            .gpu_lanes(co);
        Func staged = input.in(conv);
        const std::vector<Var> place = staged.args();
        Var turn("turn");  // four columns of eight pairs of channels
        staged.compute_at(conv, chunk)
            .vectorize(place[0], 2)
            .split(place[1], turn, xi, 4)
            .fuse(place[0], xi, lane)
            .unroll(turn)
            .unroll(place[2])
            .gpu_lanes(lane);
    }

private:
    Func input;
};

}  // namespace tessera::theirs

#define apps theirs
#include "conv_layer/generator.cpp"
