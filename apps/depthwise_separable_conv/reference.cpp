#include "depthwise_separable_conv/reference.h"

namespace tessera::apps {

namespace {

// The 3x3 sum of one channel; dimensions y and n of the input are called channels and count.
float filtered(const Image<float> &input, const Image<float> &filter, int d, int x, int y, int n) {
    float sum = 0;
    for_each_pixel(3, 3, [&](int i, int j) {
        const int from_x = x + i - 1, from_y = y + j - 1;
        if (from_x < 0 || from_x >= input.height()) return;
        if (from_y < 0 || from_y >= input.channels()) return;
        sum += filter(d, i, j) * input(d, from_x, from_y, n);
    });
    return sum;
}

}  // namespace

Image<float> depthwise_separable_conv_reference(const Image<float> &input,
                                                const Image<float> &depthwise,
                                                const Image<float> &pointwise,
                                                const Image<float> &bias) {
    const int outputs = pointwise.width(), channels = input.width();
    Image<float> result(outputs, input.height(), input.channels(), input.count());
    for (int n = 0; n < result.count(); n++) {
        for_each_pixel(result.height(), result.channels(), [&](int x, int y) {
            float *place = &result(0, x, y, n);
            for (int co = 0; co < outputs; co++) place[co] = bias(co);
            for (int d = 0; d < channels; d++) {
                const float value = filtered(input, depthwise, d, x, y, n);
                for (int co = 0; co < outputs; co++) place[co] += pointwise(co, d) * value;
            }
            for (int co = 0; co < outputs; co++) place[co] = std::max(0.0f, place[co]);
        });
    }
    return result;
}

}  // namespace tessera::apps
