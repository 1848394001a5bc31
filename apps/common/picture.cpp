#include "common/picture.h"

#include "lang/png_file.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

namespace tessera::apps {

namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE *)>;

File opened(const std::string &path, const char *mode) {
    File file(std::fopen(path.c_str(), mode), std::fclose);
    if (!file) throw std::runtime_error(std::strerror(errno));
    return file;
}

// The sample of 8 or 16 bits at `bytes`, of which the largest is 1.
float sample_at(const uint8_t *bytes, int bits) {
    return bits == 8 ? float(bytes[0]) / 255.0f : float(bytes[0] << 8 | bytes[1]) / 65535.0f;
}

// Of `channels` 3 grey is repeated.
Image<float> loaded(const std::string &path, int channels) {
    PngRows rows = read_png_rows(opened(path, "rb").get());
    const int wanted = channels ? channels : rows.channels;
    Image<float> image(rows.width, rows.height, wanted);
    for (int c = 0; c < wanted; c++) {
        const int from = rows.channels >= wanted ? c : 0;
        for_each_pixel(image.width(), image.height(), [&](int x, int y) {
            const int sample = (x * rows.channels + from) * rows.bits / 8;
            image(x, y, c) = sample_at(rows.row(y) + sample, rows.bits);
        });
    }
    return image;
}

void save(const Image<float> &picture, int bits, const std::string &path) {
    PngRows rows(picture.width(), picture.height(), picture.channels(), bits);
    const float most = bits == 8 ? 255.0f : 65535.0f;
    for (int y = 0; y < rows.height; y++) {
        uint8_t *byte = rows.row(y);
        for_each_pixel(rows.channels, rows.width, [&](int c, int x) {
            const int value = int(std::clamp(picture(x, y, c), 0.0f, 1.0f) * most + 0.5f);
            if (bits == 16) *byte++ = uint8_t(value >> 8);
            *byte++ = uint8_t(value);
        });
    }
    File file = opened(path, "wb");
    write_png_rows(rows, file.get());
    if (std::fclose(file.release()) != 0) throw std::runtime_error(std::strerror(errno));
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
    try {
        Image<float> picture = loaded(options.input, channels);
        if (options.width == 0) return picture;
        if (options.width == picture.width() && options.height == picture.height()) return picture;
        return resized(picture, options.width, options.height);
    } catch (const std::runtime_error &error) {
        throw std::runtime_error("cannot read the picture " + options.input + ": " + error.what());
    }
}

void save_as(const Image<float> &picture, int bits, const Options &options) {
    if (options.output.empty()) return;
    try {
        save(picture, bits, options.output);
    } catch (const std::runtime_error &error) {
        throw std::runtime_error("cannot write the picture " + options.output + ": " +
                                 error.what());
    }
    std::printf("%s: wrote %s\n", options.app.c_str(), options.output.c_str());
}

}  // namespace tessera::apps
