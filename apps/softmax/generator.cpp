#include "softmax/pipeline.h"

#include <tessera_generator.h>

namespace tessera::apps {

namespace {

class SoftmaxGenerator : public Generator<SoftmaxGenerator> {
public:
    Input<Buffer<float, 2>> input{"input"};
    Output<Buffer<float, 2>> output{"output"};

    void generate() override {
        Softmax softmax(input, input.width());
        output = softmax.output;
        if (!using_autoscheduler()) softmax.schedule(get_target());
        input.set_estimates({{0, 1024}, {0, 4096}});
        output.set_estimates({{0, 1024}, {0, 4096}});
    }
};

}  // namespace

}  // namespace tessera::apps

TESSERA_REGISTER_GENERATOR(tessera::apps::SoftmaxGenerator, softmax)
