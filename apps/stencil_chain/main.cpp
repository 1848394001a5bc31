#include "common/compare.h"
#include "common/options.h"
#include "common/picture.h"
#include "common/run.h"
#include "stencil_chain/pipeline.h"
#include "stencil_chain/reference.h"

using namespace tessera;
using namespace tessera::apps;

namespace {

constexpr int count = 32;

void run(const Options &options) {
    Image<uint16_t> picture = converted<uint16_t>(grey(load_picture<float>(options, 3)));
    Image<uint16_t> result(picture.width(), picture.height());
    ImageParam input(UInt(16), 2, "input");
    StencilChain chain(input, input.width(), input.height(), count);
    chain.schedule(get_jit_target_from_environment());
    input.set(as_buffer(picture, 2));
    Times times = run_timed(chain.output, as_buffer(result, 2), options);
    std::printf("stencil_chain: %.1f billion taps/s\n",
                25.0 * count * double(result.size()) / times.best / 1e6);
    if (options.check) check_close(result, stencil_chain_reference(picture, count), {});
    save_picture(result, options);
}

}  // namespace

int main(int argc, char **argv) {
    return run_app({.name = "stencil_chain",
                    .description = "32 weighted 5x5 stencils in a row; what they leave is noise"},
                   argc, argv, run);
}
