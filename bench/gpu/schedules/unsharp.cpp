// What threads do several times is inside of their loops, as there is a barrier after each turn of
// a loop around them.
#include "unsharp/pipeline.h"
#include "unsharp/reference.h"

#include "gpu/schedules/schedules.h"

namespace tessera::schedules {

struct Unsharp : apps::Unsharp {
    using apps::Unsharp::Unsharp;
    Var xo{"xo"}, yo{"yo"}, xi{"xi"}, yi{"yi"}, pixel{"pixel"}, row{"row"}, turn_x{"turn_x"},
        turn_y{"turn_y"};

    // A thread has two pixels of `rows`, and loads them at once. Of what is grey there are 64
    // pixels in a row, and with six rows of threads a whole number of blocks.
    void pairs(int rows, int threads) {
        const TailStrategy guard = TailStrategy::GuardWithIf;
        output.tile(x, y, xo, yo, xi, yi, 58, rows * threads, guard)
            .split(xi, xi, pixel, 2)
            .split(yi, yi, row, rows)
            .reorder({pixel, c, row, xi, yi, xo, yo})
            .vectorize(pixel)
            .unroll(c)
            .unroll(row)
            .gpu_blocks(xo, yo)
            .gpu_threads(xi, yi);
        ratio.compute_at(output, row).unroll(x);
        blur_y.in().compute_at(output, row).vectorize(x, 2).unroll(x);
        gray.compute_at(output, xo)
            .split(x, turn_x, x, 32, guard)
            .split(y, turn_y, y, threads, guard)
            .reorder(turn_x, turn_y, x, y)
            .unroll(turn_x)
            .unroll(turn_y)
            .gpu_threads(x, y);
        blur_y.compute_at(output, xo)
            .split(x, turn_x, x, 32, guard)
            .split(y, y, row, rows)  // which share what they read
            .reorder(row, turn_x, x, y)
            .unroll(turn_x)
            .unroll(row)
            .gpu_threads(x, y);
    }

    // As the app's own.
    void turns_inside() {
        const TailStrategy guard = TailStrategy::GuardWithIf;
        output.tile(x, y, xo, yo, xi, yi, 32, 32, guard)
            .split(yi, yi, row, 4)
            .reorder(c, row, xi, yi, xo, yo)
            .unroll(c)
            .unroll(row)
            .gpu_blocks(xo, yo)
            .gpu_threads(xi, yi);
        ratio.compute_at(output, row);
        gray.compute_at(output, xo)
            .split(x, turn_x, x, 32, guard)
            .split(y, turn_y, y, 8, guard)
            .reorder(turn_x, turn_y, x, y)
            .unroll(turn_x)
            .unroll(turn_y)
            .gpu_threads(x, y);
        blur_y.compute_at(output, xo)
            .split(x, turn_x, x, 32, guard)
            .split(y, y, row, 4, guard)
            .reorder(row, turn_x, x, y)
            .unroll(turn_x)
            .unroll(row)
            .gpu_threads(x, y);
    }
};

}  // namespace tessera::schedules

#define TESSERA_UNSHARP(name, call)                                                                \
    namespace tessera::name {                                                                      \
    using namespace apps;                                                                          \
    struct Unsharp : schedules::Unsharp {                                                          \
        using schedules::Unsharp::Unsharp;                                                         \
        void schedule(const Target &) { call; }                                                    \
    };                                                                                             \
    }

TESSERA_UNSHARP(turns_inside, schedules::Unsharp::turns_inside())
#define apps turns_inside
#include "unsharp/generator.cpp"
#undef apps

TESSERA_UNSHARP(pairs_2, pairs(2, 6))
#define apps pairs_2
#include "unsharp/generator.cpp"
#undef apps

TESSERA_UNSHARP(pairs_3, pairs(3, 6))
#define apps pairs_3
#include "unsharp/generator.cpp"
#undef apps

TESSERA_UNSHARP(pairs_4, pairs(4, 6))
#define apps pairs_4
#include "unsharp/generator.cpp"
#undef apps
