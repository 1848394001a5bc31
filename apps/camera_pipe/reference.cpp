#include "camera_pipe/reference.h"

#include <cmath>
#include <cstdlib>

namespace tessera::apps {

namespace {

constexpr int red = 0, green = 1, blue = 2;

int rounded_mean(int a, int b) { return (a + b + 1) >> 1; }

int smoothed(int a, int b, int c) { return rounded_mean(rounded_mean(a, c), b); }

// Interpolates, at each place, the colours that the sensor did not measure there.
class Demosaic {
public:
    explicit Demosaic(Image<int> mosaic)
        : raw(std::move(mosaic)), greens(raw.width(), raw.height()) {
        for_each_pixel(raw.width(), raw.height(), [&](int x, int y) {
            greens(x, y) = measured(x, y) == green ? raw(x, y) : interpolated_green(x, y);
        });
    }

    int value(int x, int y, int colour) const {
        const int own = measured(x, y);
        if (colour == green) return greens(x, y);
        if (own == colour) return raw(x, y);
        if (own == green) {
            bool along_x = measured(x + 1, y) == colour;
            return along_x ? by_green(x, y, 1, 0) : by_green(x, y, 0, 1);
        }
        int rising = std::abs(raw.clamped(x + 1, y - 1) - raw.clamped(x - 1, y + 1));
        int falling = std::abs(raw.clamped(x - 1, y - 1) - raw.clamped(x + 1, y + 1));
        return rising < falling ? by_green(x, y, 1, -1) : by_green(x, y, 1, 1);
    }

private:
    static int measured(int x, int y) {
        if ((x + y) % 2 == 0) return green;
        return y % 2 == 0 ? red : blue;
    }

    // Along the direction in which the green neighbours differ less.
    int interpolated_green(int x, int y) const {
        int left = raw.clamped(x - 1, y), right = raw.clamped(x + 1, y);
        int above = raw.clamped(x, y - 1), below = raw.clamped(x, y + 1);
        bool along_x = std::abs(left - right) < std::abs(above - below);
        return along_x ? rounded_mean(left, right) : rounded_mean(above, below);
    }

    // The mean of the two neighbours, corrected by how green differs between there and here.
    int by_green(int x, int y, int dx, int dy) const {
        int here = greens(x, y);
        int there = rounded_mean(greens.clamped(x + dx, y + dy), greens.clamped(x - dx, y - dy));
        return here - there +
               rounded_mean(raw.clamped(x + dx, y + dy), raw.clamped(x - dx, y - dy));
    }

    Image<int> raw, greens;
};

// No pixel is brighter than the brightest of its four neighbours behind the same filter.
Image<int> without_hot_pixels(const Image<uint16_t> &raw) {
    Image<int> result(raw.width(), raw.height());
    for_each_pixel(raw.width(), raw.height(), [&](int x, int y) {
        int most = std::max({raw.clamped(x - 2, y), raw.clamped(x + 2, y), raw.clamped(x, y - 2),
                             raw.clamped(x, y + 2)});
        result(x, y) = std::min(int(raw(x, y)), most);
    });
    return result;
}

Image<int> developed(const Demosaic &mosaic, int width, int height, const Camera &camera) {
    const std::array<std::array<float, 4>, 3> matrix = colour_matrix(camera);
    const std::array<uint8_t, 1024> curve = tone_curve(camera);
    Image<int> result(width, height, 3);
    for_each_pixel(width, height, [&](int x, int y) {
        for (int c = 0; c < 3; c++) {
            int sum = int(std::floor(matrix[size_t(c)][3] * 256 + 0.5f));
            for (int from = 0; from < 3; from++) {
                int factor = int(std::floor(matrix[size_t(c)][size_t(from)] * 256 + 0.5f));
                sum += factor * mosaic.value(x, y, from);
            }
            result(x, y, c) = curve[size_t(std::clamp(sum >> 8, 0, 1023))];
        }
    });
    return result;
}

}  // namespace

std::array<std::array<float, 4>, 3> colour_matrix(const Camera &camera) {
    float cool = (1 / camera.kelvin - 1 / camera.warm_kelvin) /
                 (1 / camera.cool_kelvin - 1 / camera.warm_kelvin);
    std::array<std::array<float, 4>, 3> matrix;
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < 4; j++) {
            matrix[i][j] = camera.matrix_cool[i][j] * cool + camera.matrix_warm[i][j] * (1 - cool);
        }
    }
    return matrix;
}

std::array<uint8_t, 1024> tone_curve(const Camera &camera) {
    // Two parabolas that meet at (1/2, 1/2); contrast makes them steep there and flat at the ends.
    const float slope = 2 - std::pow(2.0f, camera.contrast / 100);
    const float bend = 2 - 2 * slope;
    std::array<uint8_t, 1024> curve;
    for (int raw = 0; raw < 1024; raw++) {
        float light =
            float(raw - camera.black_level) / float(camera.white_level - camera.black_level);
        float tone = std::pow(std::clamp(light, 0.0f, 1.0f), 1 / camera.gamma);
        float part = tone > 0.5f ? 1 - tone : tone;
        float bent = bend * part * part + slope * part;
        float display = tone > 0.5f ? 1 - bent : bent;
        curve[size_t(raw)] = uint8_t(std::clamp(display * 255 + 0.5f, 0.0f, 255.0f));
    }
    return curve;
}

Image<uint8_t> camera_pipe_reference(const Image<uint16_t> &raw, const Camera &camera) {
    const Demosaic demosaic(without_hot_pixels(raw));
    const Image<int> picture = developed(demosaic, raw.width(), raw.height(), camera);
    const int strength = std::clamp(int(camera.sharpen_strength * 32), 0, 255);
    Image<uint8_t> result(raw.width() - 2 * Camera::border_x, raw.height() - 2 * Camera::border_y,
                          3);
    for (int c = 0; c < 3; c++) {
        auto column = [&](int x, int y) {
            return smoothed(picture(x, y - 1, c), picture(x, y, c), picture(x, y + 1, c));
        };
        for_each_pixel(result.width(), result.height(), [&](int x, int y) {
            int from_x = x + Camera::border_x, from_y = y + Camera::border_y;
            int soft = smoothed(column(from_x - 1, from_y), column(from_x, from_y),
                                column(from_x + 1, from_y));
            int here = picture(from_x, from_y, c);
            result(x, y, c) = uint8_t(std::clamp(here + (((here - soft) * strength) >> 5), 0, 255));
        });
    }
    return result;
}

}  // namespace tessera::apps
