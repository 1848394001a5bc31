#include "common/picture.h"

#include <cstdio>

namespace tessera::apps {

namespace {

Image<float> copied(const Buffer<float> &buffer, int channels) {
    const int stored = buffer.dimensions() > 2 ? buffer.dim(2).extent() : 1;
    const int wanted = channels ? channels : stored;
    Image<float> image(buffer.dim(0).extent(), buffer.dim(1).extent(), wanted);
    for (int c = 0; c < wanted; c++) {
        const int from = stored >= wanted ? c : 0;
        for_each_pixel(image.width(), image.height(), [&](int x, int y) {
            image(x, y, c) = buffer.dimensions() > 2 ? buffer(x, y, from) : buffer(x, y);
        });
    }
    return image;
}

}  // namespace

Image<float> resized(const Image<float> &picture, int width, int height) {
    Image<float> result(width, height, picture.channels());
    const float step_x = float(picture.width()) / float(width);
    const float step_y = float(picture.height()) / float(height);
    for (int c = 0; c < picture.channels(); c++) {
        for_each_pixel(width, height, [&](int x, int y) {
            float from_x = (float(x) + 0.5f) * step_x - 0.5f;
            float from_y = (float(y) + 0.5f) * step_y - 0.5f;
            int left = int(std::floor(from_x)), top = int(std::floor(from_y));
            float fx = from_x - float(left), fy = from_y - float(top);
            auto row = [&](int j) {
                return picture.clamped(left, j, c) * (1 - fx) +
                       picture.clamped(left + 1, j, c) * fx;
            };
            result(x, y, c) = row(top) * (1 - fy) + row(top + 1) * fy;
        });
    }
    return result;
}

Image<float> grey(const Image<float> &picture) {
    Image<float> result(picture.width(), picture.height());
    for_each_pixel(result.width(), result.height(), [&](int x, int y) {
        result(x, y) =
            0.299f * picture(x, y, 0) + 0.587f * picture(x, y, 1) + 0.114f * picture(x, y, 2);
    });
    return result;
}

Image<float> load_floats(const Options &options, int channels) {
    Image<float> picture = copied(load_and_convert_image<float>(options.input), channels);
    if (options.width == 0) return picture;
    if (options.width == picture.width() && options.height == picture.height()) return picture;
    return resized(picture, options.width, options.height);
}

void save_as(const Image<float> &picture, Type type, const Options &options) {
    if (options.output.empty()) return;
    Image<float> copy = picture;
    save_image(convert_image(as_buffer(copy, picture.channels() > 1 ? 3 : 2), type),
               options.output);
    std::printf("%s: wrote %s\n", options.app.c_str(), options.output.c_str());
}

}  // namespace tessera::apps
