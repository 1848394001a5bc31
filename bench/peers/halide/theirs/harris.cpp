// All in one kernel: a thread has two pixels of a tile of 62 x 14, whose slopes it loads first.
#include "harris/pipeline.h"

#include "theirs.h"

namespace tessera::theirs {

struct Harris : apps::Harris {
    using apps::Harris::Harris;

    void schedule(const Target &) {
        Var xo("xo"), yo("yo"), xi("xi"), yi("yi"), pixel("pixel");
        output.tile(x, y, xo, yo, xi, yi, 62, 14)
            .split(xi, xi, pixel, 2)
            .unroll(pixel)
            .gpu_blocks(xo, yo)
            .gpu_threads(xi, yi);
        gray.compute_at(output, xo)
            .split(x, x, xi, 3)
            .split(y, y, yi, 2)
            .reorder(xi, yi, x, y)
            .unroll(xi)
            .unroll(yi)
            .gpu_threads(x, y);
        for (Func *slope : {&slope_x, &slope_y}) {
            slope->compute_at(output, xo).split(x, x, pixel, 2).unroll(pixel).gpu_threads(x, y);
            slope->in().compute_at(output, xi).vectorize(x, 2).unroll(x).unroll(y);
        }
#ifdef HALIDE_REGISTER_GENERATOR  // Tessera has one loop after the other
        slope_x.compute_with(slope_y, x);
#endif
        gray.in(slope_y).compute_at(slope_y, x).vectorize(gray.args()[0], 2);
        gray.in(slope_y).unroll(gray.args()[0]).unroll(gray.args()[1]);
    }
};

}  // namespace tessera::theirs

#define apps theirs
#include "harris/generator.cpp"
