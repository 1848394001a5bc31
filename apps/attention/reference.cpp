#include "attention/reference.h"

#include <cmath>

namespace tessera::apps {

namespace {

// Returns the value for the first `count` keys.
std::vector<double> scores(const Image<float> &query, const Image<float> &key, int count, int row,
                           int c) {
    std::vector<double> products(static_cast<size_t>(count));
    for (int k = 0; k < count; k++) {
        for (int d = 0; d < key.width(); d++) {
            products[size_t(k)] += double(query(d, row, c)) * double(key(d, k, c));
        }
        products[size_t(k)] /= std::sqrt(double(key.width()));
    }
    return products;
}

}  // namespace

Image<float> attention_reference(const Image<float> &query, const Image<float> &key,
                                 const Image<float> &value, bool causal) {
    Image<float> result(value.width(), query.height(), query.channels());
    for (int c = 0; c < query.channels(); c++) {
        for (int row = 0; row < query.height(); row++) {
            const int count = causal ? row + 1 : key.height();
            std::vector<double> weights = scores(query, key, count, row, c),
                                sums(size_t(value.width()));
            const double largest = *std::max_element(weights.begin(), weights.end());
            double total = 0;
            for (int k = 0; k < count; k++) {
                const double weight = std::exp(weights[size_t(k)] - largest);
                total += weight;
                for (int d = 0; d < value.width(); d++) {
                    sums[size_t(d)] += weight * double(value(d, k, c));
                }
            }
            for (int d = 0; d < value.width(); d++) {
                result(d, row, c) = float(sums[size_t(d)] / total);
            }
        }
    }
    return result;
}

}  // namespace tessera::apps
