#include "bilateral_grid/pipeline.h"
#include "bilateral_grid/reference.h"

#include <tessera_generator.h>

namespace tessera::apps {

namespace {

class BilateralGridGenerator : public Generator<BilateralGridGenerator> {
public:
    GeneratorParam<int> cell{"cell", BilateralGridSettings().cell, 2, 64};
    Input<Buffer<float, 2>> input{"input"};
    Input<float> range{"range", BilateralGridSettings().range, 1.0f / 256, 1.0f};
    Output<Buffer<float, 2>> output{"output"};

    void generate() override {
        BilateralGrid grid(input, range, cell);
        output = grid.output;
        if (!using_autoscheduler()) grid.schedule(get_target());
        input.set_estimates({{0, 1536}, {0, 2560}});
        range.set_estimate(BilateralGridSettings().range);
        output.set_estimates({{0, 1536}, {0, 2560}});
    }
};

}  // namespace

}  // namespace tessera::apps

TESSERA_REGISTER_GENERATOR(tessera::apps::BilateralGridGenerator, bilateral_grid)
