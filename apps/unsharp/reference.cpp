#include "unsharp/reference.h"

#include <array>
#include <cmath>

namespace tessera::apps {

namespace {

std::array<float, 7> gaussian() {
    std::array<float, 7> taps;
    float sum = 0;
    for (int i = 0; i < 7; i++) sum += taps[size_t(i)] = std::exp(-float((i - 3) * (i - 3)) / 4.5f);
    for (float &tap : taps) tap /= sum;
    return taps;
}

}  // namespace

Image<float> unsharp_reference(const Image<float> &input) {
    const int width = input.width(), height = input.height();
    const std::array<float, 7> taps = gaussian();
    Image<float> grey(width, height), columns(width, height), result(width, height, 3);
    for_each_pixel(width, height, [&](int x, int y) {
        grey(x, y) = 0.299f * input(x, y, 0) + 0.587f * input(x, y, 1) + 0.114f * input(x, y, 2);
    });
    for_each_pixel(width, height, [&](int x, int y) {
        float sum = 0;
        for (int i = 0; i < 7; i++) sum += taps[size_t(i)] * grey.clamped(x, y + i - 3);
        columns(x, y) = sum;
    });
    for_each_pixel(width, height, [&](int x, int y) {
        float blurred = 0;
        for (int i = 0; i < 7; i++) blurred += taps[size_t(i)] * columns.clamped(x + i - 3, y);
        float ratio = (2 * grey(x, y) - blurred) / std::max(grey(x, y), 1e-4f);
        for (int c = 0; c < 3; c++) result(x, y, c) = ratio * input(x, y, c);
    });
    return result;
}

}  // namespace tessera::apps
