#include "iir_blur/reference.h"

namespace tessera::apps {

namespace {

// `count` values, `step` apart.
void filter(float *values, int count, ptrdiff_t step, float alpha) {
    for (int i = 1; i < count; i++) {
        values[i * step] = (1 - alpha) * values[(i - 1) * step] + alpha * values[i * step];
    }
}

// There and back.
void filter_twice(float *values, int count, ptrdiff_t step, float alpha) {
    filter(values, count, step, alpha);
    filter(values + (count - 1) * step, count, -step, alpha);
}

}  // namespace

Image<float> iir_blur_reference(const Image<float> &input, float alpha) {
    Image<float> result = input;
    for (int c = 0; c < input.channels(); c++) {
        for (int x = 0; x < input.width(); x++) {
            filter_twice(&result(x, 0, c), input.height(), input.width(), alpha);
        }
        for (int y = 0; y < input.height(); y++) {
            filter_twice(&result(0, y, c), input.width(), 1, alpha);
        }
    }
    return result;
}

}  // namespace tessera::apps
