#include "common/compare.h"
#include "common/options.h"
#include "common/picture.h"
#include "common/run.h"
#include "unsharp/reference.h"

using namespace tessera::apps;

namespace {

void run(const Options &options) {
    Image<float> picture = load_picture<float>(options, 3);
    Image<float> result(picture.width(), picture.height(), 3);
    run_timed({"unsharp"}, {as_buffer(picture, 3), as_buffer(result, 3)}, options);
    if (options.check) check_close(result, unsharp_reference(picture), {1e-5, 1e-4});
    save_picture(result, options);
}

}  // namespace

int main(int argc, char **argv) {
    return run_app({.name = "unsharp", .description = "Sharpen by an unsharp mask"}, argc, argv,
                   run);
}
