#include "common/compare.h"
#include "common/options.h"
#include "common/picture.h"
#include "common/run.h"
#include "stencil_chain/reference.h"

using namespace tessera::apps;

namespace {

void run(const Options &options) {
    Image<uint16_t> picture = converted<uint16_t>(grey(load_picture<float>(options, 3)));
    Image<uint16_t> result(picture.width(), picture.height());
    Times times =
        run_timed({"stencil_chain"}, {as_buffer(picture, 2), as_buffer(result, 2)}, options);
    std::printf("stencil_chain: %.1f billion taps/s\n",
                25.0 * stencil_chain_count * double(result.size()) / times.best / 1e6);
    if (options.check)
        check_close(result, stencil_chain_reference(picture, stencil_chain_count), {});
    save_picture(result, options);
}

}  // namespace

int main(int argc, char **argv) {
    return run_app({.name = "stencil_chain",
                    .description = "32 weighted 5x5 stencils in a row; what they leave is noise"},
                   argc, argv, run);
}
