// The corner detector with both slopes computed in one loop: what they read of the grey picture is
// loaded once.
#include "harris/pipeline.h"
#include "harris/reference.h"

#include <tessera_generator.h>

namespace tessera::best {

namespace {

class HarrisGenerator : public Generator<HarrisGenerator> {
public:
    Input<Buffer<float, 3>> input{"input"};
    Output<Buffer<float, 2>> output{"output"};

    void generate() override {
        apps::Harris harris(input);
        output = harris.output;
        harris.schedule(get_target());
        harris.slope_x.compute_with(harris.slope_y, harris.x);
        input.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
        output.set_estimates({{apps::harris_border, 1530}, {apps::harris_border, 2554}});
    }
};

}  // namespace

}  // namespace tessera::best

TESSERA_REGISTER_GENERATOR(tessera::best::HarrisGenerator, harris_best)
