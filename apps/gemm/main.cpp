#include "common/compare.h"
#include "common/options.h"
#include "common/picture.h"
#include "common/run.h"
#include "gemm/reference.h"

#include <cmath>
#include <string>

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

Image<float> transposed(const Image<float> &matrix) {
    Image<float> result(matrix.height(), matrix.width());
    for_each_pixel(matrix.width(), matrix.height(),
                   [&](int x, int y) { result(y, x) = matrix(x, y); });
    return result;
}

// The product, from operands that are stored as the params say.
Image<float> multiplied(const Image<float> &a, const Image<float> &b, bool transpose_a,
                        bool transpose_b, const Options &options) {
    Image<float> left = transpose_a ? transposed(a) : a, right = transpose_b ? transposed(b) : b;
    Image<float> result(b.width(), a.height());
    std::string params;
    if (transpose_a) params = "transpose_a=true";
    if (transpose_b) params += params.empty() ? "transpose_b=true" : " transpose_b=true";
    const Times times = run_timed(
        {"gemm", params}, {as_buffer(left, 2), as_buffer(right, 2), as_buffer(result, 2)}, options);
    const double work = 2.0 * a.width() * double(result.size());
    std::printf("gemm %s: %.1f GFLOP/s\n", params.c_str(), work / times.best / 1e6);
    if (options.check) check_close(result, gemm_reference(a, b), {1e-5, 1e-4});
    return result;
}

void run(const Options &options) {
    const Image<float> picture = grey(load_picture<float>(options, 3));
    const Image<float> smoothing = smoothing_matrix(picture.height());
    for (const bool transpose_a : {true, false}) {
        multiplied(smoothing, picture, transpose_a, true, options);
    }
    multiplied(smoothing, picture, true, false, options);
    save_picture(multiplied(smoothing, picture, false, false, options), options);
}

}  // namespace

int main(int argc, char **argv) {
    return run_app({.name = "gemm",
                    .description = "Product of matrices: blurs a grey picture along y",
                    .default_size = "512x512"},
                   argc, argv, run);
}
