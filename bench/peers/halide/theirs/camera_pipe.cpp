// All of the picture in one kernel, whose stages are in the block's memory. Theirs has the strength
// of sharpening as a stage, in a kernel of one thread; here it is an expression.
#include "camera_pipe/pipeline.h"

#include "theirs.h"

namespace tessera::theirs {

struct CameraPipe : apps::CameraPipe {
    using apps::CameraPipe::CameraPipe;

    void schedule(const Target &) {
        Var xi("xi"), yi("yi"), xp("xp"), yp("yp");
        matrix.compute_root().gpu_single_thread();
        curve.compute_root().gpu_tile(x, xi, 32);
        output.reorder(c, x, y).unroll(c).unroll(x, 2).gpu_tile(x, y, xi, yi, 28, 12);
        denoised.compute_at(output, x)
            .tile(x, y, xp, yp, 2, 2)
            .unroll(xp)
            .unroll(yp)
            .gpu_threads(x, y);
        quads.compute_at(output, x).bound(c, 0, 4).reorder(c, x, y).unroll(c).gpu_threads(x, y);
        for (Func *green : {&green_at_red, &green_at_blue})
            green->compute_at(output, x).gpu_threads(x, y);
        for (Func *stage : {&demosaiced, &corrected, &curved}) {
            stage->compute_at(output, x)
                .bound(c, 0, 3)
                .reorder(c, x, y)
                .unroll(c)
                .unroll(x, 2)
                .gpu_threads(x, y);
        }
    }
};

}  // namespace tessera::theirs

#define apps theirs
#include "camera_pipe/generator.cpp"
