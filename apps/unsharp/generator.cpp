#include "unsharp/pipeline.h"

#include <tessera_generator.h>

namespace tessera::apps {

namespace {

class UnsharpGenerator : public Generator<UnsharpGenerator> {
public:
    Input<Buffer<float, 3>> input{"input"};
    Output<Buffer<float, 3>> output{"output"};

    void generate() override {
        Unsharp unsharp(input);
        output = unsharp.output;
        if (!using_autoscheduler()) unsharp.schedule(get_target());
        input.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
        output.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
    }
};

}  // namespace

}  // namespace tessera::apps

TESSERA_REGISTER_GENERATOR(tessera::apps::UnsharpGenerator, unsharp)
