#include "gemm/reference.h"

namespace tessera::apps {

Image<float> gemm_reference(const Image<float> &a, const Image<float> &b) {
    Image<float> result(b.width(), a.height());
    for (int y = 0; y < a.height(); y++) {
        for (int k = 0; k < a.width(); k++) {
            const float factor = a(k, y);
            for (int x = 0; x < b.width(); x++) result(x, y) += factor * b(x, k);
        }
    }
    return result;
}

}  // namespace tessera::apps
