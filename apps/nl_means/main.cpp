#include "common/compare.h"
#include "common/options.h"
#include "common/picture.h"
#include "common/run.h"
#include "common/scattered.h"
#include "nl_means/reference.h"

using namespace tessera::apps;

namespace {

// Noise, for the filter to take away.
void add_noise(Image<float> &picture) {
    for (size_t i = 0; i < picture.size(); i++) {
        float &value = picture.data()[i];
        value = std::clamp(value + 0.08f * scattered(uint32_t(i)), 0.0f, 1.0f);
    }
}

void run(const Options &options) {
    Image<float> clean = load_picture<float>(options, 3), noisy = clean;
    add_noise(noisy);
    Image<float> result(noisy.width(), noisy.height(), 3);
    const NlMeansSettings settings;
    run_timed({"nl_means"}, {as_buffer(noisy, 3), settings.sigma, as_buffer(result, 3)}, options);
    if (options.check) check_close(result, nl_means_reference(noisy, settings), {1e-5, 1e-4});
    save_picture(result, options);
}

}  // namespace

int main(int argc, char **argv) {
    return run_app({.name = "nl_means",
                    .description = "Add noise to a picture, and take it away by non-local means"},
                   argc, argv, run);
}
