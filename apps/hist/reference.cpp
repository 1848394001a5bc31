#include "hist/reference.h"

#include <array>

namespace tessera::apps {

namespace {

uint8_t rounded(float value) { return uint8_t(std::clamp(value + 0.5f, 0.0f, 255.0f)); }

}  // namespace

Image<uint8_t> hist_reference(const Image<uint8_t> &input) {
    Image<uint8_t> luma(input.width(), input.height());
    std::array<int, 256> counts = {};
    for_each_pixel(input.width(), input.height(), [&](int x, int y) {
        float value = 0.299f * float(input(x, y, 0)) + 0.587f * float(input(x, y, 1)) +
                      0.114f * float(input(x, y, 2));
        luma(x, y) = uint8_t(value + 0.5f);
        counts[luma(x, y)]++;
    });

    const float scale = 255.0f / float(int(luma.size()));
    std::array<float, 256> tone;
    int not_brighter = 0;
    for (size_t i = 0; i < 256; i++) {
        not_brighter += counts[i];
        tone[i] = float(uint8_t(std::min(float(not_brighter) * scale, 255.0f)));
    }

    Image<uint8_t> result(input.width(), input.height(), 3);
    for_each_pixel(input.width(), input.height(), [&](int x, int y) {
        float before = float(luma(x, y)), after = tone[luma(x, y)];
        float red = 0.713f * (float(input(x, y, 0)) - before);
        float blue = 0.564f * (float(input(x, y, 2)) - before);
        result(x, y, 0) = rounded(after + 1.402f * red);
        result(x, y, 1) = rounded(after - 0.344f * blue - 0.714f * red);
        result(x, y, 2) = rounded(after + 1.772f * blue);
    });
    return result;
}

}  // namespace tessera::apps
