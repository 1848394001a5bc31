#include "softmax/reference.h"

#include <cmath>

namespace tessera::apps {

Image<float> softmax_reference(const Image<float> &input) {
    Image<float> result(input.width(), input.height());
    for (int y = 0; y < input.height(); y++) {
        const float *row = &input(0, y);
        const double largest = *std::max_element(row, row + input.width());
        double sum = 0;
        for (int x = 0; x < input.width(); x++) sum += std::exp(row[x] - largest);
        for (int x = 0; x < input.width(); x++) {
            result(x, y) = float(std::exp(row[x] - largest) / sum);
        }
    }
    return result;
}

}  // namespace tessera::apps
