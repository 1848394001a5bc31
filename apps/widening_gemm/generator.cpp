#include "widening_gemm/pipeline.h"

#include <tessera_generator.h>

namespace tessera::apps {

namespace {

class WideningGemmGenerator : public Generator<WideningGemmGenerator> {
public:
    Input<Buffer<void, 2>> a{"a"};  // of bytes or bfloat16s: a.type=uint8 b.type=int8
    Input<Buffer<void, 2>> b{"b"};
    Output<Buffer<void, 2>> output{"output"};

    void generate() override {
        WideningGemm gemm(a, b);
        output = gemm.output;
        if (!using_autoscheduler()) gemm.schedule(get_target());
        a.set_estimates({{0, 1024}, {0, 1024}});
        b.set_estimates({{0, 1024}, {0, 1024}});
        output.set_estimates({{0, 1024}, {0, 1024}});
    }
};

}  // namespace

}  // namespace tessera::apps

TESSERA_REGISTER_GENERATOR(tessera::apps::WideningGemmGenerator, widening_gemm)
