#include "bilateral_grid/reference.h"
#include "common/compare.h"
#include "common/options.h"
#include "common/picture.h"
#include "common/run.h"

using namespace tessera::apps;

namespace {

void run(const Options &options) {
    Image<float> picture = grey(load_picture<float>(options, 3));
    Image<float> result(picture.width(), picture.height());
    const BilateralGridSettings settings;
    run_timed({"bilateral_grid"}, {as_buffer(picture, 2), settings.range, as_buffer(result, 2)},
              options);
    if (options.check) {
        check_close(result, bilateral_grid_reference(picture, settings), {1e-4, 1e-4});
    }
    save_picture(result, options);
}

}  // namespace

int main(int argc, char **argv) {
    return run_app(
        {.name = "bilateral_grid", .description = "Edge-preserving blur of a grey picture"}, argc,
        argv, run);
}
