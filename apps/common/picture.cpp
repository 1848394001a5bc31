#include "common/picture.h"

#include "files/format.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>

namespace tessera::apps {

namespace {

// The sample of 8 or 16 bits at `bytes`, of which the largest is 1.
float sample_at(const uint8_t *bytes, int bits) {
    if (bits == 8) return float(*bytes) / 255.0f;
    uint16_t value = 0;
    std::memcpy(&value, bytes, sizeof(value));
    return float(value) / 65535.0f;
}

// If `channels` is 3, grey is repeated.
Image<float> loaded(const std::string &path, int channels) {
    const files::Array array = files::read_file(path, files::picture_formats());
    const int width = array.extent(0), height = array.extent(1), bits = array.type.bits;
    const int wanted = channels ? channels : array.extent(2);
    Image<float> image(width, height, wanted);
    for (int c = 0; c < wanted; c++) {
        const int from = array.extent(2) >= wanted ? c : 0;
        for_each_pixel(width, height, [&](int x, int y) {
            const size_t sample = (size_t(from) * size_t(height) + size_t(y)) * size_t(width);
            image(x, y, c) = sample_at(&array.bytes[(sample + size_t(x)) * size_t(bits / 8)], bits);
        });
    }
    return image;
}

void save(const Image<float> &picture, int bits, const std::string &path) {
    const int width = picture.width(), height = picture.height();
    files::Array array({tessera_type_uint, uint8_t(bits), 1}, {width, height, picture.channels()});
    const float most = bits == 8 ? 255.0f : 65535.0f;
    uint8_t *byte = array.bytes.data();
    for (int c = 0; c < picture.channels(); c++) {
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                const float kept = std::clamp(picture(x, y, c), 0.0f, 1.0f);
                const auto value = uint16_t(kept * most + 0.5f);
                std::memcpy(byte, &value, size_t(bits / 8));
                byte += bits / 8;
            }
        }
    }
    const std::span<const files::Format> formats = files::picture_formats();
    files::format_for(path, formats).write(array, path, "");
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
