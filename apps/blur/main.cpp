#include "blur/reference.h"
#include "common/compare.h"
#include "common/options.h"
#include "common/picture.h"
#include "common/run.h"

using namespace tessera::apps;

namespace {

constexpr int shift = 2;  // from the 16 bits of a picture to the 14 that the pipeline takes

void run(const Options &options) {
    Image<uint16_t> picture = load_picture<uint16_t>(options);
    Image<uint16_t> blurred(picture.width() - 2, picture.height() - 2, picture.channels());
    for (int c = 0; c < picture.channels(); c++) {
        Image<uint16_t> plane(picture.width(), picture.height());
        for_each_pixel(plane.width(), plane.height(),
                       [&](int x, int y) { plane(x, y) = uint16_t(picture(x, y, c) >> shift); });
        Image<uint16_t> result(blurred.width(), blurred.height());
        run_timed({"blur"}, {as_buffer(plane, 2), as_buffer(result, 2)}, options);
        if (options.check) check_close(result, blur_reference(plane), {});
        for_each_pixel(result.width(), result.height(),
                       [&](int x, int y) { blurred(x, y, c) = uint16_t(result(x, y) << shift); });
    }
    save_picture(blurred, options);
}

}  // namespace

int main(int argc, char **argv) {
    return run_app({.name = "blur", .description = "3x3 box blur, channel by channel"}, argc, argv,
                   run);
}
