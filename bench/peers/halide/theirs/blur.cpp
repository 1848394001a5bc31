// A thread has eight rows of two pixels, and ten rows of `blur_x` in registers.
#include "blur/pipeline.h"

#include "theirs.h"

namespace tessera::theirs {

struct Blur : apps::Blur {
    using apps::Blur::Blur;

    void schedule(const Target &) {
        Var pixel("pixel"), row("row"), xi("xi"), yi("yi");
        output.split(x, x, pixel, 2)
            .split(y, y, row, 8)
            .reorder(pixel, row, x, y)
            .vectorize(pixel)
            .unroll(row)
            .gpu_tile(x, y, xi, yi, 32, 1);
        blur_x.compute_at(output, xi).vectorize(x).unroll(y);
    }
};

}  // namespace tessera::theirs

#define apps theirs
#include "blur/generator.cpp"
