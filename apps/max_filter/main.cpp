#include "common/compare.h"
#include "common/options.h"
#include "common/picture.h"
#include "common/run.h"
#include "max_filter/reference.h"

using namespace tessera::apps;

namespace {

void run(const Options &options) {
    Image<float> picture = load_picture<float>(options, 3);
    Image<float> result(picture.width(), picture.height(), 3);
    run_timed({"max_filter"}, {as_buffer(picture, 3), as_buffer(result, 3)}, options);
    if (options.check) check_close(result, max_filter_reference(picture, max_filter_radius), {});
    save_picture(result, options);
}

}  // namespace

int main(int argc, char **argv) {
    return run_app({.name = "max_filter", .description = "The largest value in a disc"}, argc, argv,
                   run);
}
