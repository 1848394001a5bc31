#include "layer_norm/reference.h"

#include <cmath>

namespace tessera::apps {

Image<float> layer_norm_reference(const Image<float> &input, const Image<float> &scale,
                                  const Image<float> &shift) {
    Image<float> result(input.width(), input.height());
    const int width = input.width();
    for (int y = 0; y < input.height(); y++) {
        double mean = 0, variance = 0;
        for (int x = 0; x < width; x++) mean += double(input(x, y)) / width;
        for (int x = 0; x < width; x++) variance += std::pow(input(x, y) - mean, 2) / width;
        const double deviation = std::sqrt(variance + double(layer_norm_epsilon));
        for (int x = 0; x < width; x++) {
            const double normal = (input(x, y) - mean) / deviation;
            result(x, y) = float(normal * double(scale(x)) + double(shift(x)));
        }
    }
    return result;
}

}  // namespace tessera::apps
