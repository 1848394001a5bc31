#include "layer_norm/pipeline.h"
#include "layer_norm/reference.h"

#include <tessera_generator.h>

namespace tessera::apps {

namespace {

class LayerNormGenerator : public Generator<LayerNormGenerator> {
public:
    Input<Buffer<float, 2>> input{"input"};
    Input<Buffer<float, 1>> scale{"scale"};
    Input<Buffer<float, 1>> shift{"shift"};
    Output<Buffer<float, 2>> output{"output"};

    void generate() override {
        LayerNorm norm(input, scale, shift, input.width(), layer_norm_epsilon);
        output = norm.output;
        if (!using_autoscheduler()) norm.schedule(get_target());
        input.set_estimates({{0, 1024}, {0, 4096}});
        scale.set_estimates({{0, 1024}});
        shift.set_estimates({{0, 1024}});
        output.set_estimates({{0, 1024}, {0, 4096}});
    }
};

}  // namespace

}  // namespace tessera::apps

TESSERA_REGISTER_GENERATOR(tessera::apps::LayerNormGenerator, layer_norm)
