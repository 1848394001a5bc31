#include "blur/reference.h"

namespace tessera::apps {

Image<uint16_t> blur_reference(const Image<uint16_t> &input) {
    Image<uint16_t> rows(input.width() - 2, input.height());
    for_each_pixel(rows.width(), rows.height(), [&](int x, int y) {
        rows(x, y) = uint16_t((input(x, y) + input(x + 1, y) + input(x + 2, y)) / 3);
    });
    Image<uint16_t> result(rows.width(), rows.height() - 2);
    for_each_pixel(result.width(), result.height(), [&](int x, int y) {
        result(x, y) = uint16_t((rows(x, y) + rows(x, y + 1) + rows(x, y + 2)) / 3);
    });
    return result;
}

}  // namespace tessera::apps
