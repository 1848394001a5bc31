// Plain memory for the references: they are written without Tessera, to be compared with it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tessera::apps {

// Up to four dimensions in one block of memory, the first one innermost.
template<typename T> class Image {
public:
    Image() = default;
    explicit Image(int width, int height = 1, int channels = 1, int count = 1)
        : sizes{width, height, channels, count},
          values(size_t(width) * size_t(height) * size_t(channels) * size_t(count)) {}

    int width() const { return sizes[0]; }
    int height() const { return sizes[1]; }
    int channels() const { return sizes[2]; }
    int count() const { return sizes[3]; }

    T &operator()(int x, int y = 0, int c = 0, int n = 0) { return values[index(x, y, c, n)]; }
    const T &operator()(int x, int y = 0, int c = 0, int n = 0) const {
        return values[index(x, y, c, n)];
    }

    // The value at the nearest place inside.
    const T &clamped(int x, int y, int c = 0) const {
        return (*this)(std::clamp(x, 0, width() - 1), std::clamp(y, 0, height() - 1), c);
    }

    T *data() { return values.data(); }
    const T *data() const { return values.data(); }
    size_t size() const { return values.size(); }

private:
    size_t index(int x, int y, int c, int n) const {
        return ((size_t(n) * size_t(sizes[2]) + size_t(c)) * size_t(sizes[1]) + size_t(y)) *
                   size_t(sizes[0]) +
               size_t(x);
    }

    int sizes[4] = {0, 0, 0, 0};
    std::vector<T> values;
};

// Call `body(x, y)` for each place of a picture.
template<typename Body> void for_each_pixel(int width, int height, Body &&body) {
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) body(x, y);
    }
}

}  // namespace tessera::apps
