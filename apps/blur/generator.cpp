#include "blur/pipeline.h"

#include <tessera_generator.h>

namespace tessera::apps {

namespace {

class BlurGenerator : public Generator<BlurGenerator> {
public:
    Input<Buffer<uint16_t, 2>> input{"input"};
    Output<Buffer<uint16_t, 2>> output{"output"};

    void generate() override {
        Blur blur(input);
        output = blur.output;
        if (!using_autoscheduler()) blur.schedule(get_target());
        input.set_estimates({{0, 2568}, {0, 1922}});
        output.set_estimates({{0, 2566}, {0, 1920}});
    }
};

}  // namespace

}  // namespace tessera::apps

TESSERA_REGISTER_GENERATOR(tessera::apps::BlurGenerator, blur)
