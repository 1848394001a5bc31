#include "max_filter/pipeline.h"
#include "max_filter/reference.h"

#include <tessera_generator.h>

namespace tessera::apps {

namespace {

class MaxFilterGenerator : public Generator<MaxFilterGenerator> {
public:
    GeneratorParam<int> radius{"radius", max_filter_radius, 1, 128};
    Input<Buffer<float, 3>> input{"input"};
    Output<Buffer<float, 3>> output{"output"};

    void generate() override {
        MaxFilter filter(input, input.width(), input.height(), radius);
        output = filter.output;
        if (!using_autoscheduler()) filter.schedule(get_target());
        input.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
        output.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
    }
};

}  // namespace

}  // namespace tessera::apps

TESSERA_REGISTER_GENERATOR(tessera::apps::MaxFilterGenerator, max_filter)
