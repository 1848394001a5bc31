// Pyramids of three levels: those of eight see so far beyond a small picture's edge that the
// interpreter would take minutes.
#include "common/compare.h"
#include "common/filter.h"
#include "local_laplacian/reference.h"

#include <doctest/doctest.h>

using namespace tessera::apps;

TEST_CASE("pyramids of three levels give what plain loops give") {
    LocalLaplacianSettings settings;
    settings.pyramid_levels = 3;
    Image<uint16_t> picture(53, 41, 3), result(53, 41, 3);
    for (int c = 0; c < 3; c++) {
        for_each_pixel(53, 41, [&](int x, int y) {
            picture(x, y, c) = uint16_t((x * 2311 + y * 6151 + c * 911) & 0xffff);
        });
    }
    prepare({"local_laplacian", "pyramid_levels=3"},
            {as_buffer(picture, 3), settings.brightness_levels, settings.alpha, settings.beta,
             as_buffer(result, 3)})
        .call();
    check_close(result, local_laplacian_reference(picture, settings), {64, 0});
}
