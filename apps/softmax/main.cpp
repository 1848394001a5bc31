#include "common/compare.h"
#include "common/options.h"
#include "common/picture.h"
#include "common/run.h"
#include "softmax/reference.h"

#include <string>

using namespace tessera::apps;

namespace {

constexpr float contrast = 20;  // what is brightest in a row then stands out

// The default size is known when the pipeline is compiled.
std::string params_for(int width) { return width == 1024 ? "columns=1024" : ""; }

void run(const Options &options) {
    Image<float> picture = grey(load_picture<float>(options, 3));
    for (size_t i = 0; i < picture.size(); i++) picture.data()[i] *= contrast;
    Image<float> result(picture.width(), picture.height());
    run_timed({"softmax", params_for(picture.width())},
              {as_buffer(picture, 2), as_buffer(result, 2)}, options);
    if (options.check) check_close(result, softmax_reference(picture), {1e-9, 1e-5});
    for (int y = 0; y < result.height(); y++) {  // the parts of a row are small: the largest is 1
        float *row = &result(0, y);
        const float largest = *std::max_element(row, row + result.width());
        for (int x = 0; x < result.width(); x++) row[x] /= largest;
    }
    save_picture(result, options);
}

}  // namespace

int main(int argc, char **argv) {
    return run_app({.name = "softmax",
                    .description = "Softmax of each row of a grey picture; shows where it is large",
                    .default_size = "1024x1024"},
                   argc, argv, run);
}
