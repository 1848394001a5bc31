#include "hist/pipeline.h"

#include <tessera_generator.h>

namespace tessera::apps {

namespace {

class HistGenerator : public Generator<HistGenerator> {
public:
    Input<Buffer<uint8_t, 3>> input{"input"};
    Output<Buffer<uint8_t, 3>> output{"output"};

    void generate() override {
        Hist hist(input, input.width(), input.height());
        output = hist.output;
        if (!using_autoscheduler()) hist.schedule(get_target());
        input.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
        output.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
    }
};

}  // namespace

}  // namespace tessera::apps

TESSERA_REGISTER_GENERATOR(tessera::apps::HistGenerator, hist)
