#include "conv_layer/reference.h"

namespace tessera::apps {

namespace {

// Add one input value's share to all channels of one place of the result.
void add_share(const Image<float> &filter, float value, int ci, int tap, float *result) {
    for (int co = 0; co < filter.width(); co++) result[co] += filter(co, ci, tap) * value;
}

}  // namespace

Image<float> conv_layer_reference(const Image<float> &input, const Image<float> &filter,
                                  const Image<float> &bias) {
    const int outputs = filter.width(), inputs = filter.height();
    Image<float> result(outputs, input.height() - 2, input.channels() - 2, input.count());
    for (int n = 0; n < result.count(); n++) {
        for_each_pixel(result.height(), result.channels(), [&](int x, int y) {
            float *place = &result(0, x, y, n);
            for (int co = 0; co < outputs; co++) place[co] = bias(co);
            for (int tap = 0; tap < 9; tap++) {
                for (int ci = 0; ci < inputs; ci++) {
                    add_share(filter, input(ci, x + tap % 3, y + tap / 3, n), ci, tap, place);
                }
            }
            for (int co = 0; co < outputs; co++) place[co] = std::max(0.0f, place[co]);
        });
    }
    return result;
}

}  // namespace tessera::apps
