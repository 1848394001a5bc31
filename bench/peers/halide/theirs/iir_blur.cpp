// A warp goes down 32 columns, a lane each, and up again, and turns what it has written by tiles.
#include "iir_blur/pipeline.h"

#include "theirs.h"

namespace tessera::theirs {

struct IirBlur : apps::IirBlur {
    using apps::IirBlur::IirBlur;

    void schedule(const Target &) {
        Var xo("xo"), yo("yo"), xi("xi"), yi("yi");
        for (Pass &pass : passes) {
            pass.transposed.compute_root()
                .tile(x, y, xo, yo, xi, yi, 32, 32)
                .reorder(xi, yi, xo, yo, c)
                .unroll(yi)
                .gpu_lanes(xi)
                .gpu_blocks(yo, c);
            pass.blurred.compute_at(pass.transposed, yo).store_in(MemoryType::Heap).gpu_lanes(x);
            pass.blurred.update(0).gpu_lanes(x);
            for (int i : {1, 2}) {
                pass.blurred.update(i).reorder(x, pass.rows).unroll(pass.rows, 8).gpu_lanes(x);
            }
            pass.blurred.in(pass.transposed)
                .compute_at(pass.transposed, xo)
                .align_storage(x, 33)  // so that the lanes of a column are in different banks
                .unroll(y)
                .gpu_lanes(x);
        }
    }
};

}  // namespace tessera::theirs

#define apps theirs
#include "iir_blur/generator.cpp"
