// A kernel for each stage: its tile is loaded into the block's memory, and from there the window
// of each thread, which has 2 x 2 pixels, into registers.
#include "stencil_chain/pipeline.h"

#include "theirs.h"

namespace tessera::theirs {

struct StencilChain : apps::StencilChain {
    using apps::StencilChain::StencilChain;

    void schedule(const Target &) {
        Func source = padded;
        for (Func &stage : stages) {
            const bool is_last = stage.name() == stages.back().name();
            schedule(is_last ? output : stage, source.in(stage), stage);
            source = stage;
        }
    }

private:
    // `stored` has a stage, whose values are `computed`, which it is unless that is inlined.
    void schedule(Func stored, Func tile, const Func &computed) {
        Var xo("xo"), yo("yo"), xi("xi"), yi("yi"), xp("xp"), yp("yp");
        stored.compute_root()
            .tile(x, y, xo, yo, xi, yi, 60, 12)
            .tile(xi, yi, xp, yp, 2, 2)
            .unroll(xp)
            .unroll(yp)
            .gpu_blocks(xo, yo)
            .gpu_threads(xi, yi);
        tile.compute_at(stored, xo)
            .tile(x, y, xp, yp, 2, 2)
            .vectorize(xp)
            .unroll(yp)
            .gpu_threads(x, y);
        Func window = tile.in(computed);
        window.compute_at(stored, xi).vectorize(x, 2).unroll(x).unroll(y);
    }
};

}  // namespace tessera::theirs

#define apps theirs
#include "stencil_chain/generator.cpp"
