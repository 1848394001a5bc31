#include "resize/reference.h"

#include <cmath>
#include <limits>
#include <type_traits>

namespace tessera::apps {

namespace {

double sinc(double at) { return at == 0 ? 1 : std::sin(M_PI * at) / (M_PI * at); }

double weight(ResizeKernel kernel, double at) {
    const double d = std::abs(at);
    switch (kernel) {
    case ResizeKernel::Box: return at >= -0.5 && at < 0.5 ? 1 : 0;
    case ResizeKernel::Linear: return d < 1 ? 1 - d : 0;
    case ResizeKernel::Cubic:
        if (d < 1) return 1.5 * d * d * d - 2.5 * d * d + 1;
        return d < 2 ? -0.5 * d * d * d + 2.5 * d * d - 4 * d + 2 : 0;
    case ResizeKernel::Lanczos: return d < 3 ? sinc(at) * sinc(at / 3) : 0;
    }
    return 0;
}

// The values that count for one place, and for how much.
struct Taps {
    int first = 0;
    std::vector<double> weights;
};

Taps taps_at(int i, float factor, ResizeKernel kernel) {
    const float scale = std::min(factor, 1.0f), reach = reach_of(kernel) / scale;
    const float place = (float(i) + 0.5f) * (1 / factor) - 0.5f;
    Taps taps;
    taps.first = int(std::ceil(place - reach));
    double sum = 0;
    for (int k = 0; k < int(std::ceil(2 * reach)); k++) {
        taps.weights.push_back(weight(kernel, double((float(taps.first + k) - place) * scale)));
        sum += taps.weights.back();
    }
    for (double &value : taps.weights) value /= sum;
    return taps;
}

template<typename T> T converted_back(double value) {
    if (std::is_floating_point_v<T>) return T(std::clamp(value, 0.0, 1.0));
    return T(std::clamp(std::floor(value + 0.5), 0.0, double(std::numeric_limits<T>::max())));
}

template<typename T>
Image<T> resize(const Image<T> &input, float factor, ResizeKernel kernel) {
    Image<T> result(int(float(input.width()) * factor), int(float(input.height()) * factor),
                    input.channels());
    std::vector<Taps> columns;
    for (int x = 0; x < result.width(); x++) columns.push_back(taps_at(x, factor, kernel));
    Image<double> row(input.width());
    for (int c = 0; c < result.channels(); c++) {
        for (int y = 0; y < result.height(); y++) {
            const Taps taps = taps_at(y, factor, kernel);
            for (int x = 0; x < row.width(); x++) {
                row(x) = 0;
                for (size_t k = 0; k < taps.weights.size(); k++) {
                    row(x) += taps.weights[k] * double(input.clamped(x, taps.first + int(k), c));
                }
            }
            for (int x = 0; x < result.width(); x++) {
                double sum = 0;
                for (size_t k = 0; k < columns[size_t(x)].weights.size(); k++) {
                    sum += columns[size_t(x)].weights[k] *
                           row.clamped(columns[size_t(x)].first + int(k), 0);
                }
                result(x, y, c) = converted_back<T>(sum);
            }
        }
    }
    return result;
}

}  // namespace

Image<uint8_t> resize_reference(const Image<uint8_t> &input, float factor, ResizeKernel kernel) {
    return resize(input, factor, kernel);
}
Image<uint16_t> resize_reference(const Image<uint16_t> &input, float factor, ResizeKernel kernel) {
    return resize(input, factor, kernel);
}
Image<float> resize_reference(const Image<float> &input, float factor, ResizeKernel kernel) {
    return resize(input, factor, kernel);
}

}  // namespace tessera::apps
