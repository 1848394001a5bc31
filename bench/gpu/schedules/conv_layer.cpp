// What threads do several times is inside of their loops, as there is a barrier after each turn of
// a loop around them.
#include "conv_layer/pipeline.h"
#include "conv_layer/reference.h"

#include "gpu/schedules/schedules.h"

namespace tessera::schedules {

struct ConvLayer : apps::ConvLayer {
    ConvLayer(const Func &input, const Func &filter, const Func &bias, int channels)
        : apps::ConvLayer(input, filter, bias, channels), input(input), filter(filter) {}

    // As the app's own: a block has 128 channels of 4 * `places` x 4 places, a thread 8 channels of
    // `places` in a row. What a block reads of `taken_at_once` input channels is in its memory.
    void schedule(int places, int taken_at_once, bool unroll, bool row_at_once) {
        Var block("block"), rows("rows"), quad("quad"), turn("turn"), turn_x("turn_x"),
            turn_y("turn_y"), u("u"), v("v");
        RVar chunk("chunk"), taken("taken"), quads("quads");
        const TailStrategy guard = TailStrategy::GuardWithIf;
        output.split(co, block, co, 128).tile(x, y, xi, yi, 4 * places, 4, guard).fuse(y, n, rows);
        output.fuse(rows, block, block);
        share_tile(output, xi, places)
            .reorder({cv, group, xi, ct, xt, yi, x, block})
            .gpu_blocks(x, block)
            .gpu_threads(ct, xt, yi);
        conv.compute_at(output, x).store_in(MemoryType::Register);
        share_tile(conv, x, places).reorder({cv, group, x, ct, xt, y}).gpu_threads(ct, xt, y);
        Stage update = conv.update();
        update.split(r.x, chunk, taken, taken_at_once).split(taken, quads, taken, 4);
        share_tile(update, x, places);
        if (row_at_once)  // of the filter: its three places share what they read
            update.reorder({cv, group, x, taken, r.y, quads, r.z, ct, xt, y, chunk}).unroll(r.y);
        else
            update.reorder({cv, group, x, taken, quads, r.y, r.z, ct, xt, y, chunk});
        update.unroll(taken).gpu_threads(ct, xt, y);
        Func staged = input.in(conv), window = staged.in(conv), weights = filter.in(conv);
        const std::vector<Var> place = staged.args(), weight = weights.args();
        window.compute_at(conv, quads).vectorize(place[0]).unroll(place[1]);  // four by one load
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
        if (unroll) weights.unroll(tap);
    }

private:
    // The part of a thread.
    Stage share_tile(Stage stage, const Var &of_row, int places) {
        return stage.split(co, group, co, 64)
            .split(co, ct, cv, 4)
            .split(of_row, xt, of_row, places, TailStrategy::GuardWithIf)
            .vectorize(cv)
            .unroll(group)
            .unroll(of_row);
    }

    Func input, filter;
    Var xi{"xi"}, yi{"yi"}, group{"group"}, ct{"ct"}, cv{"cv"}, xt{"xt"}, tap{"tap"};
};

}  // namespace tessera::schedules

#define TESSERA_CONV_LAYER(name, ...)                                                              \
    namespace tessera::name {                                                                      \
    using namespace apps;                                                                          \
    struct ConvLayer : schedules::ConvLayer {                                                      \
        using schedules::ConvLayer::ConvLayer;                                                     \
        void schedule(const Target &) { schedules::ConvLayer::schedule(__VA_ARGS__); }             \
    };                                                                                             \
    }

TESSERA_CONV_LAYER(turns_inside, 5, 8, true, false)
#define apps turns_inside
#include "conv_layer/generator.cpp"
#undef apps

TESSERA_CONV_LAYER(turns_inside_looped, 5, 8, false, false)
#define apps turns_inside_looped
#include "conv_layer/generator.cpp"
#undef apps

TESSERA_CONV_LAYER(turns_inside_rows, 5, 8, true, true)
#define apps turns_inside_rows
#include "conv_layer/generator.cpp"
#undef apps

TESSERA_CONV_LAYER(turns_inside_rows_looped, 5, 8, false, true)
#define apps turns_inside_rows_looped
#include "conv_layer/generator.cpp"
#undef apps

TESSERA_CONV_LAYER(turns_inside_rows_4, 5, 4, true, true)
#define apps turns_inside_rows_4
#include "conv_layer/generator.cpp"
#undef apps
