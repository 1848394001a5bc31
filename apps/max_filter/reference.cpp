#include "max_filter/reference.h"

#include <utility>

namespace tessera::apps {

Image<float> max_filter_reference(const Image<float> &input, int radius) {
    std::vector<std::pair<int, int>> disc;
    for (int dy = -radius; dy <= radius; dy++) {
        for (int dx = -radius; dx <= radius; dx++) {
            if (16 * (dx * dx + dy * dy) < (4 * radius + 1) * (4 * radius + 1)) {
                disc.emplace_back(dx, dy);
            }
        }
    }
    Image<float> result(input.width(), input.height(), input.channels());
    for (int c = 0; c < input.channels(); c++) {
        for_each_pixel(result.width(), result.height(), [&](int x, int y) {
            float most = input(x, y, c);
            for (auto [dx, dy] : disc) most = std::max(most, input.clamped(x + dx, y + dy, c));
            result(x, y, c) = most;
        });
    }
    return result;
}

}  // namespace tessera::apps
