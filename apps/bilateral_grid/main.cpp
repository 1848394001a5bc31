#include "bilateral_grid/pipeline.h"
#include "bilateral_grid/reference.h"
#include "common/compare.h"
#include "common/options.h"
#include "common/picture.h"
#include "common/run.h"

using namespace tessera;
using namespace tessera::apps;

namespace {

constexpr float range = 0.1f;

void run(const Options &options) {
    Image<float> picture = grey(load_picture<float>(options, 3));
    Image<float> result(picture.width(), picture.height());
    BilateralGrid bilateral;
    bilateral.schedule(get_jit_target_from_environment());
    bilateral.input.set(as_buffer(picture, 2));
    bilateral.range.set(range);
    run_timed(bilateral.output, as_buffer(result, 2), options);
    if (options.check) {
        check_close(result, bilateral_grid_reference(picture, BilateralGrid::cell, range),
                    {1e-4, 1e-4});
    }
    save_picture(result, options);
}

}  // namespace

int main(int argc, char **argv) {
    return run_app(
        {.name = "bilateral_grid", .description = "Edge-preserving blur of a grey picture"}, argc,
        argv, run);
}
