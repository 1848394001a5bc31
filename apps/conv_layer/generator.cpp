#include "conv_layer/pipeline.h"
#include "conv_layer/reference.h"

#include <tessera_generator.h>

namespace tessera::apps {

namespace {

class ConvLayerGenerator : public Generator<ConvLayerGenerator> {
public:
    GeneratorParam<int> channels{"channels", conv_layer_channels, 1, 4096};  // of the input
    Input<Buffer<float, 4>> input{"input"};
    Input<Buffer<float, 4>> filter{"filter"};
    Input<Buffer<float, 1>> bias{"bias"};
    Output<Buffer<float, 4>> output{"output"};

    void generate() override {
        ConvLayer layer(input, filter, bias, channels);
        output = layer.output;
        if (!using_autoscheduler()) layer.schedule(get_target());
        input.set_estimates({{0, channels}, {0, 102}, {0, 82}, {0, 5}});
        filter.set_estimates({{0, 128}, {0, channels}, {0, 3}, {0, 3}});
        bias.set_estimates({{0, 128}});
        output.set_estimates({{0, 128}, {0, 100}, {0, 80}, {0, 5}});
    }
};

}  // namespace

}  // namespace tessera::apps

TESSERA_REGISTER_GENERATOR(tessera::apps::ConvLayerGenerator, conv_layer)
