#include "local_laplacian/pipeline.h"
#include "local_laplacian/reference.h"

#include <tessera_generator.h>

namespace tessera::apps {

namespace {

constexpr LocalLaplacianSettings usual;

class LocalLaplacianGenerator : public Generator<LocalLaplacianGenerator> {
public:
    GeneratorParam<int> pyramid_levels{"pyramid_levels", usual.pyramid_levels, 1, 16};
    Input<Buffer<uint16_t, 3>> input{"input"};
    Input<int> levels{"levels", usual.brightness_levels, 2, 64};
    Input<float> alpha{"alpha", usual.alpha};
    Input<float> beta{"beta", usual.beta};
    Output<Buffer<uint16_t, 3>> output{"output"};

    void generate() override {
        LocalLaplacian filter(input, levels, alpha, beta, pyramid_levels);
        output = filter.output;
        if (!using_autoscheduler()) filter.schedule(get_target());
        input.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
        levels.set_estimate(usual.brightness_levels);
        alpha.set_estimate(usual.alpha);
        beta.set_estimate(usual.beta);
        output.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
    }
};

}  // namespace

}  // namespace tessera::apps

TESSERA_REGISTER_GENERATOR(tessera::apps::LocalLaplacianGenerator, local_laplacian)
