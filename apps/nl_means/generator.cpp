#include "nl_means/pipeline.h"
#include "nl_means/reference.h"

#include <tessera_generator.h>

namespace tessera::apps {

namespace {

constexpr NlMeansSettings usual;

class NlMeansGenerator : public Generator<NlMeansGenerator> {
public:
    GeneratorParam<int> patch_size{"patch_size", usual.patch_size, 1, 31};
    GeneratorParam<int> search_size{"search_size", usual.search_size, 1, 31};
    Input<Buffer<float, 3>> input{"input"};
    Input<float> sigma{"sigma", usual.sigma};
    Output<Buffer<float, 3>> output{"output"};

    void generate() override {
        NlMeans filter(input, input.width(), input.height(), patch_size, search_size, sigma);
        output = filter.output;
        if (!using_autoscheduler()) filter.schedule(get_target());
        input.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
        sigma.set_estimate(usual.sigma);
        output.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
    }
};

}  // namespace

}  // namespace tessera::apps

TESSERA_REGISTER_GENERATOR(tessera::apps::NlMeansGenerator, nl_means)
