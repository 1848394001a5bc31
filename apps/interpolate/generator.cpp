#include "interpolate/pipeline.h"
#include "interpolate/reference.h"

#include <tessera_generator.h>

namespace tessera::apps {

namespace {

class InterpolateGenerator : public Generator<InterpolateGenerator> {
public:
    GeneratorParam<int> levels{"levels", interpolate_levels, 2, 16};
    Input<Buffer<float, 3>> input{"input"};
    Output<Buffer<float, 3>> output{"output"};

    void generate() override {
        Interpolate interpolate(input, input.width(), input.height(), levels);
        output = interpolate.output;
        if (!using_autoscheduler()) interpolate.schedule(get_target());
        input.set_estimates({{0, 1536}, {0, 2560}, {0, 4}});
        output.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
    }
};

}  // namespace

}  // namespace tessera::apps

TESSERA_REGISTER_GENERATOR(tessera::apps::InterpolateGenerator, interpolate)
