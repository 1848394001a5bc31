#include "interpolate/reference.h"

#include <array>

namespace tessera::apps {

namespace {

using Pixel = std::array<float, 4>;

constexpr int clamped_level = 4;  // the coarser levels take this one's edge for the rest

// One level of the pyramid, from -`before` on in both directions.
struct Level {
    int before, columns, rows;
    std::vector<Pixel> pixels;

    Level(int margin, int width, int height)
        : before(margin), columns(width), rows(height), pixels(size_t(width) * size_t(height)) {}

    int end_x() const { return columns - before; }
    int end_y() const { return rows - before; }
    Pixel &at(int x, int y) {
        return pixels[size_t(y + before) * size_t(columns) + size_t(x + before)];
    }
    const Pixel &get(int x, int y) const {
        return pixels[size_t(y + before) * size_t(columns) + size_t(x + before)];
    }

    template<typename Value> void fill(Value &&value) {
        for_each_pixel(columns, rows, [&](int i, int j) {
            at(i - before, j - before) = value(i - before, j - before);
        });
    }
};

Level half(const Level &fine) {
    const int before = (fine.before - 1) / 2;
    Level coarse(before, before + fine.end_x() / 2, before + fine.end_y() / 2);
    coarse.fill([&](int x, int y) {
        constexpr float taps[] = {0.25f, 0.5f, 0.25f};
        Pixel sum = {};
        for_each_pixel(3, 3, [&](int i, int j) {
            const Pixel &pixel = fine.get(2 * x - 1 + i, 2 * y - 1 + j);
            for (size_t c = 0; c < 4; c++) sum[c] += taps[i] * taps[j] * pixel[c];
        });
        return sum;
    });
    return coarse;
}

// The level as it is within [0, last], and its edge for `margin` around that.
Level clamped(const Level &level, int last_x, int last_y, int margin) {
    Level result(margin, last_x + 1 + 2 * margin, last_y + 1 + 2 * margin);
    result.fill([&](int x, int y) {
        return level.get(std::clamp(x, 0, last_x), std::clamp(y, 0, last_y));
    });
    return result;
}

Level premultiplied(const Image<float> &input, int margin) {
    Level level(margin, input.width() + 2 * margin, input.height() + 2 * margin);
    level.fill([&](int x, int y) {
        float alpha = input.clamped(x, y, 3);
        return Pixel{alpha * input.clamped(x, y, 0), alpha * input.clamped(x, y, 1),
                     alpha * input.clamped(x, y, 2), alpha};
    });
    return level;
}

// Fills what is missing of `level` from the next coarser one.
Level filled(const Level &level, const Level &coarse, int width, int height) {
    Level result(0, width, height);
    result.fill([&](int x, int y) {
        Pixel pixel = level.get(x, y);
        const float missing = 1 - pixel[3];
        for (size_t c = 0; c < 4; c++) {
            float sum = 0;
            for_each_pixel(2, 2,
                           [&](int i, int j) { sum += coarse.get((x + i) / 2, (y + j) / 2)[c]; });
            pixel[c] += missing * sum / 4;
        }
        return pixel;
    });
    return result;
}

}  // namespace

Image<float> interpolate_reference(const Image<float> &input, int levels) {
    const int margin = 4 << std::max(levels - clamped_level, clamped_level);
    std::vector<Level> pyramid = {premultiplied(input, margin)};
    for (int j = 1; j < levels; j++) {
        const Level &last = pyramid.back();
        if (j - 1 == clamped_level) {
            pyramid.push_back(half(clamped(last, input.width() >> clamped_level,
                                           input.height() >> clamped_level, margin)));
        } else {
            pyramid.push_back(half(last));
        }
    }

    Level result = pyramid.back();
    for (int j = levels - 2; j >= 0; j--) {
        // One more than the finer level reads, at most.
        int width = j == 0 ? input.width() : (input.width() >> j) + 2;
        int height = j == 0 ? input.height() : (input.height() >> j) + 2;
        result = filled(pyramid[size_t(j)], result, width, height);
    }

    Image<float> picture(input.width(), input.height(), 3);
    for_each_pixel(picture.width(), picture.height(), [&](int x, int y) {
        for (int c = 0; c < 3; c++) {
            picture(x, y, c) = result.get(x, y)[size_t(c)] / result.get(x, y)[3];
        }
    });
    return picture;
}

}  // namespace tessera::apps
