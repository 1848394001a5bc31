// A thread has 2 x 2 pixels, which share what they read of the coarser level.
#include "interpolate/pipeline.h"
#include "interpolate/reference.h"

#include "gpu/schedules/schedules.h"

namespace tessera::schedules {

struct Interpolate : apps::Interpolate {
    using apps::Interpolate::Interpolate;

    // Every other level from `skipped` on is computed for what reads it, and not stored.
    void schedule(int threads, size_t skipped) {
        for (size_t j = 1; j < downsampled.size(); j++)
            tile(downsampled[j], 4, 1, j < 5 ? 32 : 8, 8);
        for (size_t j = 1; j + 1 < interpolated.size(); j++) {
            if (j >= skipped && (j - skipped) % 2 == 0) continue;
            tile(interpolated[j], 4, j < 4 ? 2 : 1, j < 5 ? 32 : 8, j < 4 ? threads : 8);
        }
        tile(output, 3, 2, 32, threads);
        interpolated[0].compute_at(output, Var("xi")).bound(c, 0, 4).unroll(c).unroll(x).unroll(y);
    }

private:
    void tile(Func f, int channels, int pixels, int width, int height) {
        Var xi("xi"), yi("yi"), xp("xp"), yp("yp");
        const TailStrategy guard = TailStrategy::GuardWithIf;
        f.bound(c, 0, channels)
            .tile(x, y, xp, yp, pixels, pixels, guard)
            .reorder(c, xp, yp, x, y)
            .unroll(c)
            .unroll(xp)
            .unroll(yp);
        f.compute_root().gpu_tile(x, y, xi, yi, width, height, guard);
    }
};

}  // namespace tessera::schedules

#define TESSERA_INTERPOLATE(name, ...)                                                             \
    namespace tessera::name {                                                                      \
    using namespace apps;                                                                          \
    struct Interpolate : schedules::Interpolate {                                                  \
        using schedules::Interpolate::Interpolate;                                                 \
        void schedule(const Target &) { schedules::Interpolate::schedule(__VA_ARGS__); }           \
    };                                                                                             \
    }

TESSERA_INTERPOLATE(quads, 4, 100)
#define apps quads
#include "interpolate/generator.cpp"
#undef apps

TESSERA_INTERPOLATE(quads_high, 8, 100)
#define apps quads_high
#include "interpolate/generator.cpp"
#undef apps

TESSERA_INTERPOLATE(quads_skip_2, 4, 2)
#define apps quads_skip_2
#include "interpolate/generator.cpp"
#undef apps

TESSERA_INTERPOLATE(quads_skip_4, 4, 4)
#define apps quads_skip_4
#include "interpolate/generator.cpp"
#undef apps
