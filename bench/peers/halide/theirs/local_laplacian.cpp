// A kernel for each level of each pyramid; threads go through the levels of brightness one by one.
#include "local_laplacian/pipeline.h"

#include "theirs.h"

namespace tessera::theirs {

struct LocalLaplacian : apps::LocalLaplacian {
    using apps::LocalLaplacian::LocalLaplacian;

    void schedule(const Target &) {
        Var xi("xi"), yi("yi");
        const auto tile = [&](Func f, int width, int height) {
            f.compute_root().gpu_tile(x, y, xi, yi, width, height).never_partition_all();
        };
        remap.compute_root().gpu_tile(i, xi, 16).never_partition_all();
        for (size_t j = 0; j < remapped.size(); j++) {
            const int width = j < 4 ? 16 : 2, height = j < 4 ? 8 : 2;
            remapped[j].reorder(k, x, y);
            for (const Func &f : {original[j], remapped[j], collapsed[j]}) tile(f, width, height);
        }
        output.reorder(c, x, y);
        tile(output, 16, 8);
    }
};

}  // namespace tessera::theirs

#define apps theirs
#include "local_laplacian/generator.cpp"
