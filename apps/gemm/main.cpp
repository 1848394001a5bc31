#include "common/compare.h"
#include "common/options.h"
#include "common/picture.h"
#include "common/run.h"
#include "gemm/reference.h"

#include <cmath>

using namespace tessera::apps;

namespace {

// Each row takes the mean of the rows near it: times a picture, a blur along y.
Image<float> smoothing_matrix(int size) {
    Image<float> matrix(size, size);
    const float sigma = float(size) / 64;
    for (int y = 0; y < size; y++) {
        float sum = 0;
        for (int k = 0; k < size; k++) {
            float distance = float(k - y) / sigma;
            sum += matrix(k, y) = std::exp(-distance * distance / 2);
        }
        for (int k = 0; k < size; k++) matrix(k, y) /= sum;
    }
    return matrix;
}

void run(const Options &options) {
    Image<float> picture = grey(load_picture<float>(options, 3));
    Image<float> smoothing = smoothing_matrix(picture.height());
    Image<float> result(picture.width(), picture.height());
    Times times = run_timed(
        {"gemm"}, {as_buffer(smoothing, 2), as_buffer(picture, 2), as_buffer(result, 2)}, options);
    double work = 2.0 * smoothing.width() * double(result.size());
    std::printf("gemm: %.1f GFLOP/s\n", work / times.best / 1e6);
    if (options.check) check_close(result, gemm_reference(smoothing, picture), {1e-5, 1e-4});
    save_picture(result, options);
}

}  // namespace

int main(int argc, char **argv) {
    return run_app({.name = "gemm",
                    .description = "Product of matrices: blurs a grey picture along y",
                    .default_size = "512x512"},
                   argc, argv, run);
}
