#include "gemm/pipeline.h"

#include <tessera_generator.h>

namespace tessera::apps {

namespace {

class GemmGenerator : public Generator<GemmGenerator> {
public:
    GeneratorParam<bool> transpose_a{"transpose_a", false}, transpose_b{"transpose_b", false};
    Input<Buffer<float, 2>> a{"a"};
    Input<Buffer<float, 2>> b{"b"};
    Output<Buffer<float, 2>> output{"output"};

    void generate() override {
        Gemm gemm(a, b, transpose_a, transpose_b);
        output = gemm.output;
        if (!using_autoscheduler()) gemm.schedule(get_target());
        a.set_estimates({{0, 1024}, {0, 1024}});
        b.set_estimates({{0, 1024}, {0, 1024}});
        output.set_estimates({{0, 1024}, {0, 1024}});
    }
};

}  // namespace

}  // namespace tessera::apps

TESSERA_REGISTER_GENERATOR(tessera::apps::GemmGenerator, gemm)
