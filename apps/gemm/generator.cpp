#include "gemm/pipeline.h"

#include <tessera_generator.h>

namespace tessera::apps {

namespace {

class GemmGenerator : public Generator<GemmGenerator> {
public:
    GeneratorParam<bool> transpose_a{"transpose_a", false}, transpose_b{"transpose_b", false};
    // On a GPU, rows and columns of a block, and rows of a thread: fewer where there would be few
    // blocks.
    GeneratorParam<int> tile{"tile", 128}, thread_rows{"thread_rows", 8}, step{"step", 32};
    Input<Buffer<float, 2>> a{"a"};
    Input<Buffer<float, 2>> b{"b"};
    Output<Buffer<float, 2>> output{"output"};

    void generate() override {
        // An auto-scheduler chooses by itself.
        const bool by_hand = !using_autoscheduler();
        const bool on_gpu = by_hand && get_target().has_gpu_feature();
        const bool has_small = by_hand && !on_gpu && !transpose_b;
        Gemm gemm(a, b,
                  {transpose_a, transpose_b, has_small, on_gpu ? step : 1, tile, thread_rows});
        output = gemm.output;
        if (by_hand) gemm.schedule(get_target());
        a.set_estimates({{0, 1024}, {0, 1024}});
        b.set_estimates({{0, 1024}, {0, 1024}});
        output.set_estimates({{0, 1024}, {0, 1024}});
    }
};

}  // namespace

}  // namespace tessera::apps

TESSERA_REGISTER_GENERATOR(tessera::apps::GemmGenerator, gemm)
