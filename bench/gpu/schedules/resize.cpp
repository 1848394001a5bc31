// More or fewer rows a thread, and other blocks.
#include "resize/pipeline.h"
#include "resize/reference.h"

#include "gpu/schedules/schedules.h"

namespace tessera::schedules {

struct Resize : apps::Resize {
    using apps::Resize::Resize;

    void schedule(int rows, int width, int height) {
        Var xi("xi"), yi("yi"), row("row");
        const TailStrategy guard = TailStrategy::GuardWithIf;
        raw_weights.compute_root().gpu_tile(i, xi, 64, guard);
        weights.compute_root().gpu_tile(i, xi, 64, guard);
        if (enlarge) {
            along_y.update().unroll(tap);
            along_x.update().unroll(tap);
        }
        Func stored = along_y.in();
        for (Func *pass : {&stored, &output}) {
            pass->split(y, y, row, rows, guard)
                .reorder(row, x, y, c)
                .unroll(row)
                .gpu_tile(x, y, xi, yi, width, height, guard)
                .gpu_blocks(c);
        }
        stored.compute_root();
        along_y.compute_at(stored, row);
        along_x.compute_at(output, row);
    }
};

}  // namespace tessera::schedules

#define TESSERA_RESIZE(name, ...)                                                                  \
    namespace tessera::name {                                                                      \
    using namespace apps;                                                                          \
    struct Resize : schedules::Resize {                                                            \
        using schedules::Resize::Resize;                                                           \
        void schedule(const Target &) { schedules::Resize::schedule(__VA_ARGS__); }                \
    };                                                                                             \
    }

TESSERA_RESIZE(rows_2, 2, 32, 4)
#define apps rows_2
#include "resize/generator.cpp"
#undef apps

TESSERA_RESIZE(rows_8, 8, 32, 4)
#define apps rows_8
#include "resize/generator.cpp"
#undef apps

TESSERA_RESIZE(rows_8_wide, 8, 128, 1)
#define apps rows_8_wide
#include "resize/generator.cpp"
#undef apps

TESSERA_RESIZE(rows_4_wide, 4, 128, 1)
#define apps rows_4_wide
#include "resize/generator.cpp"
#undef apps

TESSERA_RESIZE(rows_4_square, 4, 32, 8)
#define apps rows_4_square
#include "resize/generator.cpp"
#undef apps
