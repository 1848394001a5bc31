#include "local_laplacian/reference.h"

#include <cmath>

namespace tessera::apps {

namespace {

// A picture over all places of the plane: places outside take the nearest value inside. The
// inside reaches `margin` beyond the picture, since coarse levels see beyond its border.
class Plane {
public:
    int left, top;

    Plane(int first_x, int first_y, int last_x, int last_y)
        : left(first_x), top(first_y), values(last_x - first_x + 1, last_y - first_y + 1) {}

    int right() const { return left + values.width() - 1; }
    int bottom() const { return top + values.height() - 1; }

    float &at(int x, int y) { return values(x - left, y - top); }
    float get(int x, int y) const { return values(x - left, y - top); }

    template<typename Value>
    static Plane filled(int left, int top, int right, int bottom, Value &&value) {
        Plane plane(left, top, right, bottom);
        for (int y = top; y <= bottom; y++) {
            for (int x = left; x <= right; x++) plane.at(x, y) = value(x, y);
        }
        return plane;
    }

private:
    Image<float> values;
};

int floor_half(int value) { return value >> 1; }

// Half the size: weights 1 3 3 1 in each direction. Covers all that the finer level allows.
Plane downsample(const Plane &fine) {
    auto half = [&](int x, int y) {
        constexpr float taps[] = {1, 3, 3, 1};
        float sum = 0;
        for (int j = 0; j < 4; j++) {
            for (int i = 0; i < 4; i++) {
                sum += taps[i] * taps[j] * fine.get(2 * x - 1 + i, 2 * y - 1 + j);
            }
        }
        return sum / 64;
    };
    return Plane::filled(floor_half(fine.left + 2), floor_half(fine.top + 2),
                         floor_half(fine.right() - 2), floor_half(fine.bottom() - 2), half);
}

// Twice the size: three quarters of the nearer sample and a quarter of the next.
float upsampled(const Plane &coarse, int x, int y) {
    int near_x = floor_half(x), near_y = floor_half(y);
    int far_x = near_x + (x & 1 ? 1 : -1), far_y = near_y + (y & 1 ? 1 : -1);
    auto along_x = [&](int row) {
        return 0.75f * coarse.get(near_x, row) + 0.25f * coarse.get(far_x, row);
    };
    return 0.75f * along_x(near_y) + 0.25f * along_x(far_y);
}

using Pyramid = std::vector<Plane>;

Pyramid gaussian_pyramid(Plane finest, int levels) {
    Pyramid pyramid = {std::move(finest)};
    while (int(pyramid.size()) < levels) pyramid.push_back(downsample(pyramid.back()));
    return pyramid;
}

// Returns what level j adds to the one above it; the coarsest level is all its own.
float laplacian(const Pyramid &gaussian, int j, int x, int y) {
    float value = gaussian[size_t(j)].get(x, y);
    if (j + 1 == int(gaussian.size())) return value;
    return value - upsampled(gaussian[size_t(j) + 1], x, y);
}

class Filter {
public:
    Filter(const Image<uint16_t> &picture, const LocalLaplacianSettings &wanted)
        : input(picture), settings(wanted),
          // The outermost pixel of the coarsest level sees so much of the finest one.
          margin(3 << (settings.pyramid_levels - 1)) {}

    Image<uint16_t> run() {
        Plane grey =
            Plane::filled(-margin, -margin, input.width() - 1 + margin, input.height() - 1 + margin,
                          [&](int x, int y) { return grey_at(x, y); });
        for (int k = 0; k < settings.brightness_levels; k++) {
            remapped.push_back(gaussian_pyramid(remap(grey, k), settings.pyramid_levels));
        }
        Pyramid original = gaussian_pyramid(grey, settings.pyramid_levels);
        return colours(grey, collapse(original));
    }

private:
    float colour(int x, int y, int c) const { return float(input.clamped(x, y, c)) / 65535.0f; }

    float grey_at(int x, int y) const {
        return 0.299f * colour(x, y, 0) + 0.587f * colour(x, y, 1) + 0.114f * colour(x, y, 2);
    }

    // The picture with detail strengthened around the k-th level of brightness.
    Plane remap(const Plane &grey, int k) const {
        const int steps = (settings.brightness_levels - 1) * 256;
        const float level = float(k) / float(settings.brightness_levels - 1);
        auto value = [&](int x, int y) {
            float here = grey.get(x, y);
            int index = std::clamp(int(here * float(steps)), 0, steps) - 256 * k;
            float detail = float(index) / 256.0f;
            return settings.beta * (here - level) + level +
                   settings.alpha * detail * std::exp(-detail * detail / 2);
        };
        return Plane::filled(grey.left, grey.top, grey.right(), grey.bottom(), value);
    }

    // The detail of level j, from the remapped pictures that suit the brightness there.
    float blended(const Pyramid &original, int j, int x, int y) const {
        const int last = settings.brightness_levels - 1;
        float level = original[size_t(j)].get(x, y) * float(last);
        int below = std::clamp(int(level), 0, last - 1);
        float part = level - float(below);
        return (1 - part) * laplacian(remapped[size_t(below)], j, x, y) +
               part * laplacian(remapped[size_t(below) + 1], j, x, y);
    }

    // Add all levels up. Each level covers what the finer one reads of it.
    Plane collapse(const Pyramid &original) const {
        Plane sum(0, 0, 0, 0);
        for (int j = settings.pyramid_levels - 1; j >= 0; j--) {
            int reach = j == 0 ? 0 : 1;
            auto value = [&](int x, int y) {
                float detail = blended(original, j, x, y);
                return j == settings.pyramid_levels - 1 ? detail : detail + upsampled(sum, x, y);
            };
            sum = Plane::filled(-reach, -reach, ((input.width() - 1) >> j) + reach,
                                ((input.height() - 1) >> j) + reach, value);
        }
        return sum;
    }

    Image<uint16_t> colours(const Plane &grey, const Plane &filtered) const {
        constexpr float small = 0.01f;
        Image<uint16_t> result(input.width(), input.height(), 3);
        for_each_pixel(result.width(), result.height(), [&](int x, int y) {
            float gain = filtered.get(x, y) / (grey.get(x, y) + small);
            for (int c = 0; c < 3; c++) {
                float value = gain * (colour(x, y, c) + small);
                result(x, y, c) = uint16_t(std::clamp(value, 0.0f, 1.0f) * 65535.0f);
            }
        });
        return result;
    }

    const Image<uint16_t> &input;
    const LocalLaplacianSettings &settings;
    int margin;
    std::vector<Pyramid> remapped;
};

}  // namespace

Image<uint16_t> local_laplacian_reference(const Image<uint16_t> &input,
                                          const LocalLaplacianSettings &settings) {
    return Filter(input, settings).run();
}

}  // namespace tessera::apps
