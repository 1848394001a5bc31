#include "camera_pipe/mosaic.h"
#include "camera_pipe/reference.h"
#include "common/compare.h"
#include "common/options.h"
#include "common/picture.h"
#include "common/run.h"
#include <cstdio>

using namespace tessera::apps;

namespace {

// A picture of one channel holds raw values in its upper ten bits; of a colour picture, what the
// sensor would have seen.
Image<uint16_t> load_raw(const Options &options, const Camera &camera) {
    Image<float> picture = load_picture<float>(options);
    if (picture.channels() >= 3) return mosaic(picture, camera);
    Image<uint16_t> raw(picture.width() & ~1, picture.height() & ~1);
    for_each_pixel(raw.width(), raw.height(),
                   [&](int x, int y) { raw(x, y) = uint16_t(picture(x, y) * 65535.0f) >> 6; });
    return raw;
}

Image<float> matrix(const float (&rows)[3][4]) {
    Image<float> image(4, 3);
    for_each_pixel(4, 3, [&](int x, int y) { image(x, y) = rows[y][x]; });
    return image;
}

void run(const Options &options) {
    Camera camera;
    Image<uint16_t> raw = load_raw(options, camera);
    Image<uint8_t> result(raw.width() - 2 * Camera::border_x, raw.height() - 2 * Camera::border_y,
                          3);
    Image<float> warm = matrix(camera.matrix_warm), cool = matrix(camera.matrix_cool);
    run_timed({"camera_pipe"},
              {as_buffer(raw, 2), as_buffer(warm, 2), as_buffer(cool, 2), camera.warm_kelvin,
               camera.cool_kelvin, camera.kelvin, camera.gamma, camera.contrast,
               camera.sharpen_strength, camera.black_level, camera.white_level,
               as_buffer(result, 3)},
              options);
    // The tables are computed in floats: one step of the curve or of the matrix either way.
    if (options.check) check_close(result, camera_pipe_reference(raw, camera), {4, 0});
    save_picture(result, options);
    std::printf("%dx%d of %dx%d pixels: the filters lack neighbours for those at the border\n",
                result.width(), result.height(), raw.width(), raw.height());
}

}  // namespace

int main(int argc, char **argv) {
    return run_app(
        {.name = "camera_pipe", .description = "From a sensor's raw values to a picture"}, argc,
        argv, run);
}
