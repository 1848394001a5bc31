#include "nl_means/reference.h"

#include <cmath>

namespace tessera::apps {

namespace {

class Filter {
public:
    Filter(const Image<float> &picture, const NlMeansSettings &wanted)
        : input(picture), settings(wanted),
          scale(1 / (settings.sigma * settings.sigma *
                     float(settings.patch_size * settings.patch_size))) {}

    Image<float> run() const {
        Image<float> sums(input.width(), input.height(), 4);
        const int reach = settings.search_size / 2;
        for_each_pixel(settings.search_size, settings.search_size,
                       [&](int i, int j) { add(sums, i - reach, j - reach); });
        Image<float> result(input.width(), input.height(), 3);
        for (int c = 0; c < 3; c++) {
            for_each_pixel(result.width(), result.height(), [&](int x, int y) {
                result(x, y, c) = std::clamp(sums(x, y, c) / sums(x, y, 3), 0.0f, 1.0f);
            });
        }
        return result;
    }

private:
    float difference(int x, int y, int dx, int dy) const {
        float sum = 0;
        for (int c = 0; c < 3; c++) {
            float distance = input.clamped(x, y, c) - input.clamped(x + dx, y + dy, c);
            sum += distance * distance;
        }
        return sum;
    }

    // The share of the pixels that lie (dx, dy) from each one.
    void add(Image<float> &sums, int dx, int dy) const {
        const int size = settings.patch_size, reach = size / 2;
        Image<float> differences(input.width() + size - 1, input.height() + size - 1);
        for_each_pixel(differences.width(), differences.height(), [&](int x, int y) {
            differences(x, y) = difference(x - reach, y - reach, dx, dy);
        });
        for_each_pixel(input.width(), input.height(), [&](int x, int y) {
            float sum = 0;
            for_each_pixel(size, size, [&](int i, int j) { sum += differences(x + i, y + j); });
            float weight = std::exp(-sum * scale);
            for (int c = 0; c < 3; c++) {
                sums(x, y, c) += weight * input.clamped(x + dx, y + dy, c);
            }
            sums(x, y, 3) += weight;
        });
    }

    const Image<float> &input;
    const NlMeansSettings &settings;
    float scale;
};

}  // namespace

Image<float> nl_means_reference(const Image<float> &input, const NlMeansSettings &settings) {
    return Filter(input, settings).run();
}

}  // namespace tessera::apps
