#include "common/compare.h"
#include "common/options.h"
#include "common/picture.h"
#include "common/run.h"
#include "harris/reference.h"

#include <cmath>

using namespace tessera::apps;

namespace {

// Corners bright on black, the strongest ones white.
Image<float> visible(const Image<float> &response) {
    float strongest = 1e-12f;
    for (size_t i = 0; i < response.size(); i++) {
        strongest = std::max(strongest, response.data()[i]);
    }
    Image<float> picture = response;
    for (size_t i = 0; i < picture.size(); i++) {
        picture.data()[i] = std::sqrt(std::max(0.0f, response.data()[i]) / strongest);
    }
    return picture;
}

void run(const Options &options) {
    Image<float> picture = load_picture<float>(options, 3);
    Image<float> result(picture.width() - 2 * harris_border, picture.height() - 2 * harris_border);
    run_timed({"harris"},
              {as_buffer(picture, 3), as_buffer(result, 2, {harris_border, harris_border})},
              options);
    if (options.check) check_close(result, harris_reference(picture), {1e-6, 1e-3});
    save_picture(visible(result), options);
}

}  // namespace

int main(int argc, char **argv) {
    return run_app({.name = "harris", .description = "Find corners by Harris' measure"}, argc, argv,
                   run);
}
