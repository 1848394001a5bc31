#include "common/compare.h"
#include "common/options.h"
#include "common/picture.h"
#include "common/run.h"
#include "harris/pipeline.h"
#include "harris/reference.h"

#include <cmath>

using namespace tessera;
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
    Image<float> result(picture.width() - 2 * Harris::border,
                        picture.height() - 2 * Harris::border);
    Harris harris;
    harris.schedule(get_jit_target_from_environment());
    harris.input.set(as_buffer(picture, 3));
    Buffer<float> target = as_buffer(result, 2);
    target.set_min(Harris::border, Harris::border);
    run_timed(harris.output, target, options);
    if (options.check) check_close(result, harris_reference(picture), {1e-6, 1e-3});
    save_picture(visible(result), options);
}

}  // namespace

int main(int argc, char **argv) {
    return run_app({.name = "harris", .description = "Find corners by Harris' measure"}, argc, argv,
                   run);
}
