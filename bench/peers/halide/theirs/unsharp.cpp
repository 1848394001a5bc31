// All in one kernel: a thread has one pixel of a tile, and several of what the tile is made of.
#include "unsharp/pipeline.h"

#include "theirs.h"

namespace tessera::theirs {

struct Unsharp : apps::Unsharp {
    using apps::Unsharp::Unsharp;

    void schedule(const Target &) {
        Var xi("xi"), yi("yi");
        output.reorder(c, x, y).unroll(c).gpu_tile(x, y, xi, yi, 32, 32);
        ratio.compute_at(output, xi);
        gray.compute_at(output, x).tile(x, y, xi, yi, 2, 2).unroll(xi).unroll(yi).gpu_threads(x, y);
        blur_y.compute_at(output, x).unroll(x, 2).gpu_threads(x, y);
    }
};

}  // namespace tessera::theirs

#define apps theirs
#include "unsharp/generator.cpp"
