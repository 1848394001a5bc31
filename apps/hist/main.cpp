#include "common/compare.h"
#include "common/options.h"
#include "common/picture.h"
#include "common/run.h"
#include "hist/reference.h"

using namespace tessera::apps;

namespace {

void run(const Options &options) {
    Image<uint8_t> picture = load_picture<uint8_t>(options, 3);
    Image<uint8_t> result(picture.width(), picture.height(), 3);
    run_timed({"hist"}, {as_buffer(picture, 3), as_buffer(result, 3)}, options);
    // A colour may be rounded either way.
    if (options.check) check_close(result, hist_reference(picture), {1, 0});
    save_picture(result, options);
}

}  // namespace

int main(int argc, char **argv) {
    return run_app({.name = "hist", .description = "Equalize the histogram of the brightness"},
                   argc, argv, run);
}
