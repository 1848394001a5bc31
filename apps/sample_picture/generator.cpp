#include "sample_picture/pipeline.h"

#include <tessera_generator.h>

namespace tessera::apps {

namespace {

class SamplePictureGenerator : public Generator<SamplePictureGenerator> {
public:
    Output<Buffer<uint8_t, 3>> output{"output"};

    void generate() override {
        SamplePicture sample;
        output = sample.output;
        if (!using_autoscheduler()) sample.schedule(get_target());
        output.set_estimates({{0, sample_width}, {0, sample_height}, {0, 3}});
    }
};

}  // namespace

}  // namespace tessera::apps

TESSERA_REGISTER_GENERATOR(tessera::apps::SamplePictureGenerator, sample_picture)
