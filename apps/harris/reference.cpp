#include "harris/reference.h"

namespace tessera::apps {

namespace {

constexpr int border = 3;

// Sobel's slope of `grey` along x or y, per pixel.
float slope(const Image<float> &grey, int x, int y, bool along_x) {
    float sum = 0;
    for (int side = -1; side <= 1; side++) {
        float weight = side == 0 ? 2.0f : 1.0f;
        float after = along_x ? grey(x + 1, y + side) : grey(x + side, y + 1);
        float before = along_x ? grey(x - 1, y + side) : grey(x + side, y - 1);
        sum += weight * (after - before);
    }
    return sum / 12;
}

}  // namespace

Image<float> harris_reference(const Image<float> &input) {
    Image<float> grey(input.width(), input.height());
    for_each_pixel(grey.width(), grey.height(), [&](int x, int y) {
        grey(x, y) = 0.299f * input(x, y, 0) + 0.587f * input(x, y, 1) + 0.114f * input(x, y, 2);
    });
    Image<float> slope_x(grey.width(), grey.height()), slope_y(grey.width(), grey.height());
    for_each_pixel(grey.width() - 2, grey.height() - 2, [&](int x, int y) {
        slope_x(x + 1, y + 1) = slope(grey, x + 1, y + 1, true);
        slope_y(x + 1, y + 1) = slope(grey, x + 1, y + 1, false);
    });
    Image<float> result(grey.width() - 2 * border, grey.height() - 2 * border);
    for_each_pixel(result.width(), result.height(), [&](int x, int y) {
        float xx = 0, xy = 0, yy = 0;
        for_each_pixel(3, 3, [&](int i, int j) {
            float across = slope_x(x + border - 1 + i, y + border - 1 + j);
            float down = slope_y(x + border - 1 + i, y + border - 1 + j);
            xx += across * across;
            xy += across * down;
            yy += down * down;
        });
        result(x, y) = xx * yy - xy * xy - 0.04f * (xx + yy) * (xx + yy);
    });
    return result;
}

}  // namespace tessera::apps
