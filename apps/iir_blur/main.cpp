#include "common/compare.h"
#include "common/options.h"
#include "common/picture.h"
#include "common/run.h"
#include "iir_blur/reference.h"

using namespace tessera::apps;

namespace {

void run(const Options &options) {
    Image<float> picture = load_picture<float>(options, 3);
    Image<float> result(picture.width(), picture.height(), 3);
    run_timed({"iir_blur"}, {as_buffer(picture, 3), iir_blur_alpha, as_buffer(result, 3)}, options);
    if (options.check)
        check_close(result, iir_blur_reference(picture, iir_blur_alpha), {1e-6, 1e-5});
    save_picture(result, options);
}

}  // namespace

int main(int argc, char **argv) {
    return run_app({.name = "iir_blur", .description = "Wide blur by a recursive filter"}, argc,
                   argv, run);
}
