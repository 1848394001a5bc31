#include "common/compare.h"
#include "common/options.h"
#include "common/picture.h"
#include "common/run.h"
#include "layer_norm/reference.h"

#include <string>

using namespace tessera::apps;

namespace {

// The default size is known when the pipeline is compiled.
std::string params_for(int width) { return width == 1024 ? "columns=1024" : ""; }

void run(const Options &options) {
    Image<float> picture = grey(load_picture<float>(options, 3));
    Image<float> scale(picture.width()), shift(picture.width());
    for (int x = 0; x < picture.width(); x++) {  // more contrast to the right
        scale(x) = 0.1f + 0.1f * float(x) / float(picture.width());
        shift(x) = 0.5f;
    }
    Image<float> result(picture.width(), picture.height());
    run_timed(
        {"layer_norm", params_for(picture.width())},
        {as_buffer(picture, 2), as_buffer(scale, 1), as_buffer(shift, 1), as_buffer(result, 2)},
        options);
    if (options.check) {
        check_close(result, layer_norm_reference(picture, scale, shift), {2e-5, 0});
    }
    save_picture(result, options);
}

}  // namespace

int main(int argc, char **argv) {
    return run_app({.name = "layer_norm",
                    .description = "Layer normalization: the same contrast for each row",
                    .default_size = "1024x1024"},
                   argc, argv, run);
}
