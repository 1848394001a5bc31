// Pixels and rows of a thread in other numbers, with its window in registers or from the block's
// memory.
#include "stencil_chain/pipeline.h"
#include "stencil_chain/reference.h"

#include "gpu/schedules/schedules.h"

namespace tessera::schedules {

struct StencilChain : apps::StencilChain {
    using apps::StencilChain::StencilChain;
    Var xo{"xo"}, yo{"yo"}, xi{"xi"}, yi{"yi"}, pixel{"pixel"}, row{"row"}, turn_x{"turn_x"},
        turn_y{"turn_y"};

    // Each stage from memory, `threads` rows of 32 a block; all that a thread reads is loaded by
    // vectors first, if `window`.
    void from_memory(int pixels, int rows, int threads, bool window) {
        each_stage([&](Func stored, const Func &source, const Func &computed) {
            stored.split(x, x, pixel, pixels)
                .split(y, y, row, rows, TailStrategy::GuardWithIf)
                .reorder(pixel, row, x, y)
                .unroll(row)
                .gpu_tile(x, y, xi, yi, 32, threads, TailStrategy::GuardWithIf);
            stored.vectorize(pixel);
            if (window) {
                Func read = source;
                read.in(computed).compute_at(stored, xi).vectorize(x, 2).unroll(x).unroll(y);
            }
        });
    }

    // Tiles of 60 pixels, with four around them, are in the block's memory.
    void from_tiles(int rows, int threads) {
        const TailStrategy guard = TailStrategy::GuardWithIf;
        each_stage([&](Func stored, Func source, const Func &computed) {
            stored.tile(x, y, xo, yo, xi, yi, 60, rows * threads, guard)
                .split(xi, xi, pixel, 2)
                .split(yi, yi, row, rows)
                .reorder(pixel, row, xi, yi, xo, yo)
                .unroll(pixel)
                .unroll(row)
                .gpu_blocks(xo, yo)
                .gpu_threads(xi, yi);
            Func tile = source.in(computed);
            tile.compute_at(stored, xo)
                .split(x, x, pixel, 2)
                .split(y, turn_y, y, threads, guard)
                .reorder(pixel, turn_y, x, y)
                .vectorize(pixel)
                .unroll(turn_y)
                .gpu_threads(x, y);
            tile.in(computed).compute_at(stored, xi).vectorize(x, 2).unroll(x).unroll(y);
        });
    }

private:
    // Calls `f` with what stores a stage, what that reads, and the stage: two of these are one
    // Func, but for the last stage, which is inlined into the output.
    template<typename F> void each_stage(F f) {
        Func source = padded;
        for (size_t i = 0; i < stages.size(); i++) {
            Func stored = i + 1 == stages.size() ? output : stages[i];
            stored.compute_root();
            f(stored, source, stages[i]);
            source = stored;
        }
    }
};

}  // namespace tessera::schedules

#define TESSERA_STENCIL_CHAIN(name, call)                                                          \
    namespace tessera::name {                                                                      \
    using namespace apps;                                                                          \
    struct StencilChain : schedules::StencilChain {                                                \
        using schedules::StencilChain::StencilChain;                                               \
        void schedule(const Target &) { call; }                                                    \
    };                                                                                             \
    }

TESSERA_STENCIL_CHAIN(memory_4x4_window, from_memory(4, 4, 4, true))
#define apps memory_4x4_window
#include "stencil_chain/generator.cpp"
#undef apps

TESSERA_STENCIL_CHAIN(memory_4x2_window, from_memory(4, 2, 4, true))
#define apps memory_4x2_window
#include "stencil_chain/generator.cpp"
#undef apps

TESSERA_STENCIL_CHAIN(memory_4x4, from_memory(4, 4, 4, false))
#define apps memory_4x4
#include "stencil_chain/generator.cpp"
#undef apps

TESSERA_STENCIL_CHAIN(tiles_2x2, from_tiles(2, 4))
#define apps tiles_2x2
#include "stencil_chain/generator.cpp"
#undef apps

TESSERA_STENCIL_CHAIN(tiles_2x4, from_tiles(4, 4))
#define apps tiles_2x4
#include "stencil_chain/generator.cpp"
#undef apps

TESSERA_STENCIL_CHAIN(tiles_2x4_high, from_tiles(4, 8))
#define apps tiles_2x4_high
#include "stencil_chain/generator.cpp"
#undef apps
