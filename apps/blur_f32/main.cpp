#include "blur_f32/reference.h"
#include "common/compare.h"
#include "common/options.h"
#include "common/picture.h"
#include "common/run.h"

using namespace tessera::apps;

namespace {

void run(const Options &options) {
    Image<float> picture = grey(load_picture<float>(options, 3));
    Image<float> result(picture.width() - 2, picture.height() - 2);
    run_timed({"blur_f32"}, {as_buffer(picture, 2), as_buffer(result, 2)}, options);
    if (options.check) check_close(result, blur_f32_reference(picture), {1e-6, 0});
    save_picture(result, options);
}

}  // namespace

int main(int argc, char **argv) {
    return run_app({.name = "blur_f32", .description = "3x3 box blur of a grey picture"}, argc,
                   argv, run);
}
