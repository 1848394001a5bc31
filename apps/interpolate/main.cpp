#include "common/compare.h"
#include "common/options.h"
#include "common/picture.h"
#include "common/run.h"
#include "common/scattered.h"
#include "interpolate/reference.h"

using namespace tessera::apps;

namespace {

// One pixel in twenty of the picture is known, each with an alpha of its own; in a disc in the
// middle none is.
Image<float> sampled(const Image<float> &picture) {
    Image<float> result(picture.width(), picture.height(), 4);
    const float middle_x = float(picture.width()) / 2, middle_y = float(picture.height()) / 2;
    const float radius = middle_y / 3;
    for_each_pixel(result.width(), result.height(), [&](int x, int y) {
        const float dx = float(x) - middle_x, dy = float(y) - middle_y;
        const uint32_t place = uint32_t(y * result.width() + x);
        const bool known = scattered(place) > 0.9f && dx * dx + dy * dy > radius * radius;
        for (int c = 0; c < 3; c++) result(x, y, c) = picture(x, y, c);
        result(x, y, 3) = known ? 0.75f + 0.25f * scattered(~place) : 0.0f;
    });
    return result;
}

void run(const Options &options) {
    Image<float> picture = sampled(load_picture<float>(options, 3));
    Image<float> result(picture.width(), picture.height(), 3);
    run_timed({"interpolate"}, {as_buffer(picture, 3), as_buffer(result, 3)}, options);
    if (options.check) {
        check_close(result, interpolate_reference(picture, interpolate_levels), {1e-5, 1e-5});
    }
    save_picture(result, options);
}

}  // namespace

int main(int argc, char **argv) {
    return run_app({.name = "interpolate",
                    .description = "Fill in a picture of which one pixel in twenty is known"},
                   argc, argv, run);
}
