#include "layer_norm/pipeline.h"
#include "layer_norm/reference.h"

#include <tessera_generator.h>

namespace tessera::apps {

namespace {

class LayerNormGenerator : public Generator<LayerNormGenerator> {
public:
    GeneratorParam<int> columns{"columns", 0};  // of all rows; 0: any number
    Input<Buffer<float, 2>> input{"input"};
    Input<Buffer<float, 1>> scale{"scale"};
    Input<Buffer<float, 1>> shift{"shift"};
    Output<Buffer<float, 2>> output{"output"};

    void generate() override {
        LayerNorm norm(input, scale, shift, input.width(), layer_norm_epsilon, columns);
        output = norm.output;
        if (!using_autoscheduler()) norm.schedule(get_target());
        const int width = columns > 0 ? int(columns) : 1024;
        if (columns > 0) {
            input.dim(0).set_bounds(0, columns);
            output.dim(0).set_bounds(0, columns);
        }
        input.set_estimates({{0, width}, {0, 4096}});
        scale.set_estimates({{0, width}});
        shift.set_estimates({{0, width}});
        output.set_estimates({{0, width}, {0, 4096}});
    }
};

}  // namespace

}  // namespace tessera::apps

TESSERA_REGISTER_GENERATOR(tessera::apps::LayerNormGenerator, layer_norm)
