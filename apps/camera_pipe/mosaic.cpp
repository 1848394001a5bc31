#include "camera_pipe/mosaic.h"

#include "camera_pipe/reference.h"

#include <cmath>

namespace tessera::apps {

namespace {

using Vector = std::array<float, 3>;
using Matrix = std::array<std::array<float, 4>, 3>;

// Solve matrix * camera + offset = display by Cramer's rule.
Vector to_camera(const Matrix &m, const Vector &display) {
    auto column = [&](int i) { return Vector{m[0][size_t(i)], m[1][size_t(i)], m[2][size_t(i)]}; };
    auto determinant = [](const Vector &a, const Vector &b, const Vector &c) {
        return a[0] * (b[1] * c[2] - b[2] * c[1]) - b[0] * (a[1] * c[2] - a[2] * c[1]) +
               c[0] * (a[1] * b[2] - a[2] * b[1]);
    };
    const Vector a = column(0), b = column(1), c = column(2), offset = column(3);
    const Vector right = {display[0] - offset[0], display[1] - offset[1], display[2] - offset[2]};
    const float whole = determinant(a, b, c);
    return {determinant(right, b, c) / whole, determinant(a, right, c) / whole,
            determinant(a, b, right) / whole};
}

// For each 8-bit display value, the raw value that the tone curve takes there.
std::array<float, 256> inverse_curve(const Camera &camera) {
    const std::array<uint8_t, 1024> curve = tone_curve(camera);
    std::array<float, 256> inverse;
    int raw = 0;
    for (int display = 0; display < 256; display++) {
        while (raw < 1023 && curve[size_t(raw)] < display) raw++;
        inverse[size_t(display)] = float(std::max(raw, camera.black_level));
    }
    return inverse;
}

}  // namespace

Image<uint16_t> mosaic(const Image<float> &picture, const Camera &camera) {
    const Matrix matrix = colour_matrix(camera);
    const std::array<float, 256> inverse = inverse_curve(camera);
    Image<uint16_t> raw(picture.width() & ~1, picture.height() & ~1);
    for_each_pixel(raw.width(), raw.height(), [&](int x, int y) {
        Vector display;
        for (int c = 0; c < 3; c++) {
            float value = std::clamp(picture(x, y, c), 0.0f, 1.0f);
            display[size_t(c)] = inverse[size_t(value * 255 + 0.5f)];
        }
        const int filter = y % 2 == 0 ? (x % 2 == 0 ? 1 : 0) : (x % 2 == 0 ? 2 : 1);
        float seen = to_camera(matrix, display)[size_t(filter)];
        raw(x, y) = uint16_t(std::clamp(seen + 0.5f, 0.0f, float(camera.white_level)));
    });
    return raw;
}

}  // namespace tessera::apps
