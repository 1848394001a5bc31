#include "blur_f32/pipeline.h"

#include <tessera_generator.h>

namespace tessera::apps {

namespace {

class BlurF32Generator : public Generator<BlurF32Generator> {
public:
    Input<Buffer<float, 2>> input{"input"};
    Output<Buffer<float, 2>> output{"output"};

    void generate() override {
        BlurF32 blur(input);
        output = blur.output;
        if (!using_autoscheduler()) blur.schedule(get_target());
        input.set_estimates({{0, 1538}, {0, 2562}});
        output.set_estimates({{0, 1536}, {0, 2560}});
    }
};

}  // namespace

}  // namespace tessera::apps

TESSERA_REGISTER_GENERATOR(tessera::apps::BlurF32Generator, blur_f32)
