#include "harris/pipeline.h"
#include "harris/reference.h"

#include <tessera_generator.h>

namespace tessera::apps {

namespace {

class HarrisGenerator : public Generator<HarrisGenerator> {
public:
    Input<Buffer<float, 3>> input{"input"};
    Output<Buffer<float, 2>> output{"output"};

    void generate() override {
        Harris harris(input);
        output = harris.output;
        if (!using_autoscheduler()) harris.schedule(get_target());
        input.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
        output.set_estimates({{harris_border, 1530}, {harris_border, 2554}});
    }
};

}  // namespace

}  // namespace tessera::apps

TESSERA_REGISTER_GENERATOR(tessera::apps::HarrisGenerator, harris)
