// What threads do several times is inside of their loops, as there is a barrier after each turn of
// a loop around them.
#include "harris/pipeline.h"
#include "harris/reference.h"

#include "gpu/schedules/schedules.h"

namespace tessera::schedules {

struct Harris : apps::Harris {
    using apps::Harris::Harris;
    Var xo{"xo"}, yo{"yo"}, xi{"xi"}, yi{"yi"}, pixel{"pixel"}, row{"row"}, turn_x{"turn_x"},
        turn_y{"turn_y"};

    // A thread has `pixels` x `rows`, and their slopes in registers; the block's memory has what is
    // grey. With 60 pixels a block
    // there are 64 of those in a row; with four rows of threads they are a whole number of blocks.
    void in_registers(int width, int pixels, int rows, int threads) {
        output.tile(x, y, xo, yo, xi, yi, width, rows * threads, TailStrategy::GuardWithIf)
            .split(xi, xi, pixel, pixels)
            .split(yi, yi, row, rows)
            .reorder(pixel, row, xi, yi, xo, yo)
            .unroll(pixel)
            .unroll(row)
            .gpu_blocks(xo, yo)
            .gpu_threads(xi, yi);
        for (Func *slope : {&slope_x, &slope_y}) slope->compute_at(output, xi).unroll(x).unroll(y);
        gray.in().compute_at(output, xi).vectorize(x, 2).unroll(x).unroll(y);
        gray.compute_at(output, xo)
            .split(x, turn_x, x, 32, TailStrategy::GuardWithIf)
            .split(y, turn_y, y, threads, TailStrategy::GuardWithIf)
            .reorder(turn_x, turn_y, x, y)
            .unroll(turn_x)
            .unroll(turn_y)
            .gpu_threads(x, y);
    }

    // As the app's own, in whose tile a thread has four rows.
    void turns_inside() {
        const TailStrategy guard = TailStrategy::GuardWithIf;
        output.tile(x, y, xo, yo, xi, yi, 32, 32, guard)
            .split(yi, yi, row, 4)
            .reorder(row, xi, yi, xo, yo)
            .unroll(row)
            .gpu_blocks(xo, yo)
            .gpu_threads(xi, yi);
        for (Func *stage : {&gray, &slope_x, &slope_y}) {
            stage->compute_at(output, xo)
                .split(x, turn_x, x, 32, guard)
                .split(y, turn_y, y, 8, guard)
                .reorder(turn_x, turn_y, x, y)
                .unroll(turn_x)
                .unroll(turn_y)
                .gpu_threads(x, y);
        }
    }
};

}  // namespace tessera::schedules

#define TESSERA_HARRIS(name, call)                                                                 \
    namespace tessera::name {                                                                      \
    using namespace apps;                                                                          \
    struct Harris : schedules::Harris {                                                            \
        using schedules::Harris::Harris;                                                           \
        void schedule(const Target &) { call; }                                                    \
    };                                                                                             \
    }

TESSERA_HARRIS(turns_inside, schedules::Harris::turns_inside())
#define apps turns_inside
#include "harris/generator.cpp"
#undef apps

TESSERA_HARRIS(registers_2x2, in_registers(60, 2, 2, 4))
#define apps registers_2x2
#include "harris/generator.cpp"
#undef apps

TESSERA_HARRIS(registers_2x3, in_registers(60, 2, 3, 4))
#define apps registers_2x3
#include "harris/generator.cpp"
#undef apps

TESSERA_HARRIS(registers_2x4, in_registers(60, 2, 4, 4))
#define apps registers_2x4
#include "harris/generator.cpp"
#undef apps

TESSERA_HARRIS(registers_2x4_high, in_registers(60, 2, 4, 8))
#define apps registers_2x4_high
#include "harris/generator.cpp"
#undef apps

TESSERA_HARRIS(registers_2x2_high, in_registers(60, 2, 2, 8))
#define apps registers_2x2_high
#include "harris/generator.cpp"
#undef apps
