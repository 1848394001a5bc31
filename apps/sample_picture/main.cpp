#include "common/options.h"
#include "common/run.h"
#include "sample_picture/pipeline.h"

using namespace tessera;
using namespace tessera::apps;

namespace {

void run(const Options &options) {
    SamplePicture sample;
    sample.schedule(get_jit_target_from_environment());
    Buffer<uint8_t> picture(SamplePicture::width, SamplePicture::height, 3);
    run_timed(sample.output, picture, options);
    save_image(picture, options.output);
    std::printf("sample_picture: wrote %s\n", options.output.c_str());
}

}  // namespace

int main(int argc, char **argv) {
    return run_app(
        {.name = "sample_picture", .description = "Paint the sample picture", .needs_input = false},
        argc, argv, run);
}
