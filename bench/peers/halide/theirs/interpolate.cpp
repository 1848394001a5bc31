// Coarser levels to memory, and from the second one to the picture in one kernel. Theirs also has
// a picture of twice the size, before what is known is added, in the block's memory; here that is
// no stage of its own.
#include "interpolate/pipeline.h"

#include "theirs.h"

namespace tessera::theirs {

struct Interpolate : apps::Interpolate {
    using apps::Interpolate::Interpolate;

    void schedule(const Target &) {
        Var xi("xi"), yi("yi"), xp("xp"), yp("yp");
        for (size_t j = 1; j < downsampled.size(); j++) {
            downsampled[j].compute_root().bound(c, 0, 4).reorder(c, x, y).unroll(c);
            downsampled[j].gpu_tile(x, y, xi, yi, 16, 16).never_partition_all();
        }
        quads(output, 3);
        for (size_t j = 1; j + 1 < interpolated.size(); j++) {
            Func &filled = interpolated[j];
            if (j > 2 && j % 2 == 0) continue;  // inlined
            filled.bound(c, 0, 4);
            if (j > 2) {
                quads(filled.compute_root(), 4);
            } else {
                filled.compute_at(output, x).reorder(c, x, y).unroll(c).gpu_threads(x, y);
                filled.never_partition_all();
            }
        }
    }

private:
    // Tiles of 32 x 32 pixels, of which a thread has 2 x 2.
    void quads(Func f, int channels) {
        Var xi("xi"), yi("yi"), xp("xp"), yp("yp");
        const TailStrategy whole = TailStrategy::RoundUp;
        f.bound(c, 0, channels)
            .tile(x, y, xp, yp, 2, 2, whole)
            .reorder(c, xp, yp, x, y)
            .unroll(c)
            .unroll(xp)
            .unroll(yp)
            .gpu_tile(x, y, xi, yi, 16, 16, whole)
            .never_partition_all();
    }
};

}  // namespace tessera::theirs

#define apps theirs
#include "interpolate/generator.cpp"
