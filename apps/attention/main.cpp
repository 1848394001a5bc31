#include "attention/reference.h"
#include "common/compare.h"
#include "common/options.h"
#include "common/picture.h"
#include "common/run.h"

#include <cmath>
#include <string_view>

using namespace tessera::apps;

namespace {

constexpr int size = 64;  // the generator's

// Makes rows that look alike have the largest products: without their mean, and longer.
Image<float> distinct(const Image<float> &picture) {
    Image<float> result(picture.width(), picture.height(), picture.channels());
    for (int c = 0; c < picture.channels(); c++) {
        for (int y = 0; y < picture.height(); y++) {
            float mean = 0;
            for (int x = 0; x < size; x++) mean += picture(x, y, c) / float(size);
            for (int x = 0; x < size; x++) result(x, y, c) = 6 * (picture(x, y, c) - mean);
        }
    }
    return result;
}

void run(const Options &options) {
    Options narrow = options;
    narrow.width = size;
    Image<float> picture = load_picture<float>(narrow, 3), features = distinct(picture);
    Image<float> result(size, picture.height(), 3);
    for (const char *params : {"online=true causal=true", "online=true", ""}) {
        const bool causal = std::string_view(params).ends_with("causal=true");
        Times times = run_timed({"attention", params},
                                {as_buffer(features, 3), as_buffer(features, 3),
                                 as_buffer(picture, 3), as_buffer(result, 3)},
                                options);
        const double work = (causal ? 2.0 : 4.0) * picture.height() * double(result.size());
        std::printf("attention %s: %.1f GFLOP/s\n", params, work / times.best / 1e6);
        if (options.check) {
            check_close(result, attention_reference(features, features, picture, causal),
                        {1e-5, 1e-5});
        }
    }
    save_picture(resized(result, options.width, result.height()), options);
}

}  // namespace

int main(int argc, char **argv) {
    return run_app({.name = "attention",
                    .description = "Each row becomes the mean of the rows that look like it",
                    .default_size = "512x512"},
                   argc, argv, run);
}
