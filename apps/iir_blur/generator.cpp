#include "iir_blur/pipeline.h"
#include "iir_blur/reference.h"

#include <tessera_generator.h>

namespace tessera::apps {

namespace {

class IirBlurGenerator : public Generator<IirBlurGenerator> {
public:
    Input<Buffer<float, 3>> input{"input"};
    Input<float> alpha{"alpha", iir_blur_alpha, 0.0f, 1.0f};
    Output<Buffer<float, 3>> output{"output"};

    void generate() override {
        IirBlur blur(input, input.width(), input.height(), alpha);
        output = blur.output;
        if (!using_autoscheduler()) blur.schedule(get_target());
        input.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
        alpha.set_estimate(iir_blur_alpha);
        output.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
    }
};

}  // namespace

}  // namespace tessera::apps

TESSERA_REGISTER_GENERATOR(tessera::apps::IirBlurGenerator, iir_blur)
