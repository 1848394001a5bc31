#include "common/compare.h"
#include "common/options.h"
#include "common/picture.h"
#include "common/run.h"
#include "max_filter/pipeline.h"
#include "max_filter/reference.h"

using namespace tessera;
using namespace tessera::apps;

namespace {

constexpr int radius = 26;

void run(const Options &options) {
    Image<float> picture = load_picture<float>(options, 3);
    Image<float> result(picture.width(), picture.height(), 3);
    ImageParam input(Float(32), 3, "input");
    MaxFilter filter(input, input.width(), input.height(), radius);
    filter.schedule(get_jit_target_from_environment());
    input.set(as_buffer(picture, 3));
    run_timed(filter.output, as_buffer(result, 3), options);
    if (options.check) check_close(result, max_filter_reference(picture, radius), {});
    save_picture(result, options);
}

}  // namespace

int main(int argc, char **argv) {
    return run_app({.name = "max_filter", .description = "The largest value in a disc"}, argc, argv,
                   run);
}
