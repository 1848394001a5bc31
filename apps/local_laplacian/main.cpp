#include "common/compare.h"
#include "common/options.h"
#include "common/picture.h"
#include "common/run.h"
#include "local_laplacian/reference.h"

using namespace tessera::apps;

namespace {

void run(const Options &options) {
    Image<uint16_t> picture = load_picture<uint16_t>(options, 3);
    Image<uint16_t> result(picture.width(), picture.height(), 3);
    const LocalLaplacianSettings settings;
    run_timed({"local_laplacian"},
              {as_buffer(picture, 3), settings.brightness_levels, settings.alpha, settings.beta,
               as_buffer(result, 3)},
              options);
    // The detail comes from a table: where rounding takes the next entry, 1/1000 may be added.
    if (options.check) {
        check_close(result, local_laplacian_reference(picture, settings), {64, 0});
    }
    save_picture(result, options);
}

}  // namespace

int main(int argc, char **argv) {
    return run_app({.name = "local_laplacian", .description = "Strengthen the detail of a picture"},
                   argc, argv, run);
}
