#include "blur_f32/reference.h"

namespace tessera::apps {

Image<float> blur_f32_reference(const Image<float> &input) {
    Image<float> result(input.width() - 2, input.height() - 2);
    for_each_pixel(result.width(), result.height(), [&](int x, int y) {
        double sum = 0;
        for (int dy = 0; dy < 3; dy++) {
            for (int dx = 0; dx < 3; dx++) sum += double(input(x + dx, y + dy));
        }
        result(x, y) = float(sum / 9);
    });
    return result;
}

}  // namespace tessera::apps
