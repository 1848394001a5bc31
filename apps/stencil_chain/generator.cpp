#include "stencil_chain/pipeline.h"
#include "stencil_chain/reference.h"

#include <tessera_generator.h>

namespace tessera::apps {

namespace {

class StencilChainGenerator : public Generator<StencilChainGenerator> {
public:
    GeneratorParam<int> count{"count", stencil_chain_count, 1, 64};
    Input<Buffer<uint16_t, 2>> input{"input"};
    Output<Buffer<uint16_t, 2>> output{"output"};

    void generate() override {
        StencilChain chain(input, input.width(), input.height(), count);
        output = chain.output;
        if (!using_autoscheduler()) chain.schedule(get_target());
        input.set_estimates({{0, 1536}, {0, 2560}});
        output.set_estimates({{0, 1536}, {0, 2560}});
    }
};

}  // namespace

}  // namespace tessera::apps

TESSERA_REGISTER_GENERATOR(tessera::apps::StencilChainGenerator, stencil_chain)
