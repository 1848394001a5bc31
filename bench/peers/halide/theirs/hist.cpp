// A warp counts the values of a row. Theirs reads sums of counts from the block's memory where a
// pixel's brightness is looked up; here it is the bytes that are made of them.
#include "hist/pipeline.h"

#include "theirs.h"

namespace tessera::theirs {

struct Hist : apps::Hist {
    using apps::Hist::Hist;

    void schedule(const Target &) {
        Var row("row"), xi("xi"), yi("yi"), vo("vo"), vi("vi"), pair("pair");
        RVar chunk("chunk"), of_chunk("of_chunk");
        Func part = histogram.update().rfactor(r.y, row), merged = part.in();
        const auto bins = [&](Func f) {
            f.split(v, vo, vi, 64).split(vi, vi, pair, 2).vectorize(pair).gpu_lanes(vi);
        };
        bins(merged.compute_root().gpu_blocks(row));
        bins(part.compute_at(merged, row));
        part.update().atomic().split(r.x, chunk, of_chunk, 32).gpu_lanes(of_chunk);
        luma.clone_in(part).compute_at(part, chunk).store_in(MemoryType::Register).gpu_lanes(x);

        histogram.compute_root().gpu_tile(v, vi, 16);
        histogram.update().reorder(r.y, v).gpu_tile(v, vi, 16);
        cdf.compute_root().gpu_tile(v, vi, 16);
        cdf.update().gpu_single_thread();
        output.reorder(c, x, y).unroll(c).vectorize(x, 4).gpu_tile(x, y, xi, yi, 32, 4);
        tone.compute_at(output, x).split(v, vo, vi, 32).gpu_threads(vi);
    }
};

}  // namespace tessera::theirs

#define apps theirs
#include "hist/generator.cpp"
