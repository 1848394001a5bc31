#include "depthwise_separable_conv/pipeline.h"
#include "depthwise_separable_conv/reference.h"

#include <tessera_generator.h>

namespace tessera::apps {

namespace {

class DepthwiseSeparableConvGenerator : public Generator<DepthwiseSeparableConvGenerator> {
public:
    GeneratorParam<int> channels{"channels", depthwise_channels, 1, 4096};  // of the input
    Input<Buffer<float, 4>> input{"input"};
    Input<Buffer<float, 3>> depthwise_filter{"depthwise_filter"};
    Input<Buffer<float, 2>> pointwise_filter{"pointwise_filter"};
    Input<Buffer<float, 1>> bias{"bias"};
    Output<Buffer<float, 4>> output{"output"};

    void generate() override {
        DepthwiseSeparableConv layer(input, input.dim(1).extent(), input.dim(2).extent(),
                                     depthwise_filter, pointwise_filter, bias, channels);
        output = layer.output;
        if (!using_autoscheduler()) layer.schedule(get_target());
        input.set_estimates({{0, channels}, {0, 112}, {0, 112}, {0, 4}});
        depthwise_filter.set_estimates({{0, channels}, {0, 3}, {0, 3}});
        pointwise_filter.set_estimates({{0, 16}, {0, channels}});
        bias.set_estimates({{0, 16}});
        output.set_estimates({{0, 16}, {0, 112}, {0, 112}, {0, 4}});
    }
};

}  // namespace

}  // namespace tessera::apps

TESSERA_REGISTER_GENERATOR(tessera::apps::DepthwiseSeparableConvGenerator, depthwise_separable_conv)
