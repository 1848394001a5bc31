// Two kernels for each row of places compared: the distances of all patches, to memory, and what
// they add to the sums.
#include "nl_means/pipeline.h"

#include "theirs.h"

namespace tessera::theirs {

struct NlMeans : apps::NlMeans {
    using apps::NlMeans::NlMeans;

    void schedule(const Target &) {
        Var xo("xo"), yo("yo"), xi("xi"), yi("yi"), turn_x("turn_x"), turn_y("turn_y");
        output.reorder(c, x, y).unroll(c).gpu_tile(x, y, xi, yi, 32, 16);
        sum.compute_root().bound(c, 0, 4).reorder(c, x, y).unroll(c);
        sum.gpu_tile(x, y, xi, yi, 32, 16);
        sum.update()
            .reorder({c, search.x, x, y, search.y})
            .unroll(c)
            .gpu_tile(x, y, xi, yi, 32, 16);

        // A tile with the six rows and columns around it is a whole number of blocks.
        Func stored = patches.in(weight);
        stored.compute_at(sum, search.y)
            .tile(x, y, xo, yo, xi, yi, 122, 26)
            .tile(xi, yi, turn_x, turn_y, xi, yi, 32, 16)
            .reorder({xi, yi, turn_x, turn_y, xo, yo, dx, dy})
            .gpu_blocks(xo, yo, dx)
            .gpu_threads(xi, yi);
        patches.compute_at(stored, xi);
        Func rows = columns.in(patches);
        for (Func stage : {rows, difference}) {
            stage.compute_at(stored, xo)
                .tile(x, y, turn_x, turn_y, xi, yi, 32, 16)
                .gpu_threads(xi, yi);
        }
        columns.compute_at(rows, xi);
    }
};

}  // namespace tessera::theirs

#define apps theirs
#include "nl_means/generator.cpp"
