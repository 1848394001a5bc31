// Four kernels: histograms of 8 x 8 cells in the block's memory with their blur along z, blurs
// along x and y, and the picture. Theirs has the values between cells as a stage of two channels,
// which a thread computes as a vector; here each channel is an expression of its own.
#include "bilateral_grid/pipeline.h"

#include "theirs.h"

namespace tessera::theirs {

struct BilateralGrid : apps::BilateralGrid {
    using apps::BilateralGrid::BilateralGrid;

    void schedule(const Target &) {
        Var xi("xi"), yi("yi"), zi("zi"), row("row");
        blur_z.compute_root().reorder(c, z, x, y).gpu_tile(x, y, xi, yi, 8, 8);
        histogram.compute_at(blur_z, x).reorder(c, z, x, y).gpu_threads(x, y);
        histogram.update().reorder(c, r.x, r.y, x, y).unroll(c).gpu_threads(x, y);
        for (Func *stage : {&blur_x, &blur_y}) {
            stage->compute_root()
                .reorder_storage(c, x, y, z)
                .split(y, y, row, 2, TailStrategy::RoundUp)
                .reorder(c, row, x, y, z)
                .vectorize(c)
                .unroll(row)
                .gpu_tile(x, y, z, xi, yi, zi, 32, 8, 1, TailStrategy::RoundUp);
        }
        for (Func *stage : {&histogram, &blur_z, &blur_x, &blur_y}) stage->bound(c, 0, 2);
        blur_z.reorder_storage(c, x, y, z);
        output.gpu_tile(x, y, xi, yi, 32, 8);
    }
};

}  // namespace tessera::theirs

#define apps theirs
#include "bilateral_grid/generator.cpp"
