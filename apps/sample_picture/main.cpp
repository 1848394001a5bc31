#include "common/options.h"
#include "common/picture.h"
#include "common/run.h"
#include "sample_picture/size.h"

using namespace tessera::apps;

namespace {

void run(const Options &options) {
    Image<uint8_t> picture(sample_width, sample_height, 3);
    run_timed({"sample_picture"}, {as_buffer(picture, 3)}, options);
    save_picture(picture, options);
}

}  // namespace

int main(int argc, char **argv) {
    return run_app(
        {.name = "sample_picture", .description = "Paint the sample picture", .needs_input = false},
        argc, argv, run);
}
