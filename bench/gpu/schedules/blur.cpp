// More rows a thread, and pairs of pixels.
#include "blur/pipeline.h"
#include "blur/reference.h"

#include "gpu/schedules/schedules.h"

namespace tessera::schedules {

struct Blur : apps::Blur {
    using apps::Blur::Blur;

    // `threads` rows of 32; rows that are no whole number of them begin further up.
    void schedule(int pixels, int rows, int threads) {
        Var pixel("pixel"), row("row"), xi("xi"), yi("yi");
        output.split(x, x, pixel, pixels)
            .split(y, y, row, rows)
            .reorder(pixel, row, x, y)
            .vectorize(pixel)
            .unroll(row)
            .gpu_tile(x, y, xi, yi, 32, threads);
        blur_x.compute_at(output, xi).vectorize(x).unroll(y);
    }
};

}  // namespace tessera::schedules

#define TESSERA_BLUR(name, ...)                                                                    \
    namespace tessera::name {                                                                      \
    using namespace apps;                                                                          \
    struct Blur : schedules::Blur {                                                                \
        using schedules::Blur::Blur;                                                               \
        void schedule(const Target &) { schedules::Blur::schedule(__VA_ARGS__); }                  \
    };                                                                                             \
    }

TESSERA_BLUR(pairs_of_8, 2, 8, 1)
#define apps pairs_of_8
#include "blur/generator.cpp"
#undef apps

TESSERA_BLUR(pairs_of_8_by_4, 2, 8, 4)
#define apps pairs_of_8_by_4
#include "blur/generator.cpp"
#undef apps

TESSERA_BLUR(pairs_of_16, 2, 16, 1)
#define apps pairs_of_16
#include "blur/generator.cpp"
#undef apps

TESSERA_BLUR(quads_of_8, 4, 8, 1)
#define apps quads_of_8
#include "blur/generator.cpp"
#undef apps

TESSERA_BLUR(quads_of_8_by_4, 4, 8, 4)
#define apps quads_of_8_by_4
#include "blur/generator.cpp"
#undef apps

TESSERA_BLUR(quads_of_4_by_4, 4, 4, 4)
#define apps quads_of_4_by_4
#include "blur/generator.cpp"
#undef apps

TESSERA_BLUR(eights_of_8, 8, 8, 1)
#define apps eights_of_8
#include "blur/generator.cpp"
#undef apps
