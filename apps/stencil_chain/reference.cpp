#include "stencil_chain/reference.h"

namespace tessera::apps {

namespace {

constexpr int reach = 2;

Image<uint16_t> stencil(const Image<uint16_t> &input) {
    Image<uint16_t> result(input.width() - 2 * reach, input.height() - 2 * reach);
    for_each_pixel(result.width(), result.height(), [&](int x, int y) {
        uint32_t sum = 0;
        for_each_pixel(2 * reach + 1, 2 * reach + 1, [&](int i, int j) {
            sum += uint32_t((i + 1) * (j + 1)) * input(x + i, y + j);
        });
        result(x, y) = uint16_t(sum);
    });
    return result;
}

}  // namespace

Image<uint16_t> stencil_chain_reference(const Image<uint16_t> &input, int count) {
    const int margin = reach * count;
    Image<uint16_t> result(input.width() + 2 * margin, input.height() + 2 * margin);
    for_each_pixel(result.width(), result.height(),
                   [&](int x, int y) { result(x, y) = input.clamped(x - margin, y - margin); });
    for (int i = 0; i < count; i++) result = stencil(result);
    return result;
}

}  // namespace tessera::apps
