// Columns of each height to memory, and the discs from there. Theirs has one stage for columns of
// all heights, each of which an update makes of the one before, in blocks of 32 columns that go
// down all rows; here each height is a stage.
#include "max_filter/pipeline.h"

#include "theirs.h"

namespace tessera::theirs {

struct MaxFilter : apps::MaxFilter {
    using apps::MaxFilter::MaxFilter;

    void schedule(const Target &) {
        Var xi("xi"), yi("yi");
        for (Func &f : columns) {
            f.compute_root().gpu_tile(x, y, xi, yi, 16, 16, TailStrategy::RoundUp).gpu_blocks(c);
        }
        output.gpu_tile(x, y, xi, yi, 32, 8).gpu_blocks(c);
    }
};

}  // namespace tessera::theirs

#define apps theirs
#include "max_filter/generator.cpp"
