#include "common/compare.h"
#include "common/options.h"
#include "common/picture.h"
#include "common/run.h"
#include "widening_gemm/reference.h"

#include <cmath>

using namespace tessera::apps;

namespace {

// Each column takes the mean of the columns near it, weighted by integers of up to 127: a picture
// times it is a blur along x, and `weights` times as bright.
struct Smoothing {
    Image<int8_t> matrix;
    std::vector<float> weights;  // of each column

    explicit Smoothing(int size) : matrix(size, size), weights(size_t(size)) {
        const float sigma = float(size) / 64;
        for_each_pixel(size, size, [&](int x, int k) {
            const float distance = float(k - x) / sigma;
            matrix(x, k) = int8_t(std::lround(127 * std::exp(-distance * distance / 2)));
            weights[size_t(x)] += matrix(x, k);
        });
    }
};

void print_rate(const char *type, const Times &times, const Image<int8_t> &b, int rows) {
    std::printf("%s: %.1f GOP/s\n", type, 2.0 * double(b.size()) * rows / times.best / 1e6);
}

Image<int32_t> product_of_bytes(Image<uint8_t> &picture, Smoothing &smoothing,
                                const Options &options) {
    Image<int32_t> result(picture.width(), picture.height());
    const Times times = run_timed(
        {"widening_gemm", "a.type=uint8 b.type=int8"},
        {as_buffer(picture, 2), as_buffer(smoothing.matrix, 2), as_buffer(result, 2)}, options);
    print_rate("bytes", times, smoothing.matrix, picture.height());
    if (options.check)
        check_close(result, widening_gemm_reference(picture, smoothing.matrix), {0, 0});
    return result;
}

template<typename T> Image<uint16_t> in_bfloat16(const Image<T> &from) {
    Image<uint16_t> bits(from.width(), from.height());
    for (size_t i = 0; i < from.size(); i++) bits.data()[i] = to_bfloat16(float(from.data()[i]));
    return bits;
}

FilterArgument as_bfloat16(Image<uint16_t> &bits) {
    FilterArgument argument = as_buffer(bits, 2);
    argument.type.code = tessera_type_bfloat;
    return argument;
}

void multiply_bfloat16s(const Image<uint8_t> &picture, const Smoothing &smoothing,
                        const Options &options) {
    Image<uint16_t> a = in_bfloat16(picture), b = in_bfloat16(smoothing.matrix);
    Image<float> result(picture.width(), picture.height());
    Options named = options;
    named.app = "widening_gemm bfloat16";
    const Times times = run_timed({"widening_gemm", "a.type=bfloat16 b.type=bfloat16"},
                                  {as_bfloat16(a), as_bfloat16(b), as_buffer(result, 2)}, named);
    print_rate("bfloat16", times, smoothing.matrix, picture.height());
    if (options.check) check_close(result, widening_gemm_reference(a, b), {1e-5, 1e-4});
}

void run(const Options &options) {
    Image<uint8_t> picture = converted<uint8_t>(grey(load_picture<float>(options, 3)));
    Smoothing smoothing(picture.width());
    Image<int32_t> sums = product_of_bytes(picture, smoothing, options);
    Image<uint8_t> blurred(picture.width(), picture.height());
    for_each_pixel(picture.width(), picture.height(), [&](int x, int y) {
        blurred(x, y) = uint8_t(std::lround(float(sums(x, y)) / smoothing.weights[size_t(x)]));
    });
    multiply_bfloat16s(picture, smoothing, options);
    save_picture(blurred, options);
}

}  // namespace

int main(int argc, char **argv) {
    return run_app({.name = "widening_gemm",
                    .description = "Products of matrices of bytes and of bfloat16s, in 32 bits: "
                                   "blurs a grey picture along x",
                    .default_size = "512x512"},
                   argc, argv, run);
}
