#include "softmax/pipeline.h"

#include <tessera_generator.h>

namespace tessera::apps {

namespace {

class SoftmaxGenerator : public Generator<SoftmaxGenerator> {
public:
    GeneratorParam<int> columns{"columns", 0};  // of all rows; 0: any number
    Input<Buffer<float, 2>> input{"input"};
    Output<Buffer<float, 2>> output{"output"};

    void generate() override {
        Softmax softmax(input, input.width(), columns);
        output = softmax.output;
        if (!using_autoscheduler()) softmax.schedule(get_target());
        const int width = columns > 0 ? int(columns) : 1024;
        if (columns > 0) {
            input.dim(0).set_bounds(0, columns);
            output.dim(0).set_bounds(0, columns);
        }
        input.set_estimates({{0, width}, {0, 4096}});
        output.set_estimates({{0, width}, {0, 4096}});
    }
};

}  // namespace

}  // namespace tessera::apps

TESSERA_REGISTER_GENERATOR(tessera::apps::SoftmaxGenerator, softmax)
