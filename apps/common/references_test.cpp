#include "attention/reference.h"
#include "bilateral_grid/reference.h"
#include "blur/reference.h"
#include "blur_f32/reference.h"
#include "camera_pipe/mosaic.h"
#include "camera_pipe/reference.h"
#include "common/compare.h"
#include "conv_layer/reference.h"
#include "depthwise_separable_conv/reference.h"
#include "gemm/reference.h"
#include "harris/reference.h"
#include "hist/reference.h"
#include "iir_blur/reference.h"
#include "interpolate/reference.h"
#include "layer_norm/reference.h"
#include "local_laplacian/reference.h"
#include "max_filter/reference.h"
#include "nl_means/reference.h"
#include "resize/reference.h"
#include "softmax/reference.h"
#include "stencil_chain/reference.h"
#include "unsharp/reference.h"
#include "widening_gemm/reference.h"

#include <doctest/doctest.h>

using namespace tessera::apps;

namespace {

template<typename T, typename Value>
Image<T> painted(int width, int height, int channels, Value &&value) {
    Image<T> image(width, height, channels);
    for (int c = 0; c < channels; c++) {
        for_each_pixel(width, height, [&](int x, int y) { image(x, y, c) = T(value(x, y, c)); });
    }
    return image;
}

}  // namespace

TEST_SUITE("compare") {
    TEST_CASE("counts values beyond the tolerance and names the worst") {
        Image<float> a = painted<float>(4, 3, 1, [](int, int, int) { return 1; });
        Image<float> b = a;
        b(2, 1) = 1.5f;
        Difference found = difference(a, b, {0.25, 0});
        CHECK(found.beyond == 1);
        CHECK(found.largest == 0.5);
        CHECK(found.where.substr(0, 12) == "(2, 1, 0, 0)");
        CHECK(difference(a, b, {0.5, 0}).beyond == 0);
    }
    TEST_CASE("a value that is not a number differs from all") {
        Image<float> a(1), b(1);
        a(0) = std::nanf("");
        CHECK(difference(a, b, {1e9, 0}).beyond == 1);
    }
    TEST_CASE("refuses images of different size") {
        CHECK_THROWS(difference(Image<float>(3), Image<float>(4), {}));
    }
}

TEST_SUITE("references") {
    TEST_CASE("blur rounds down along x, then along y") {
        Image<uint16_t> input(3, 3);
        for (size_t i = 0; i < 9; i++) input.data()[i] = uint16_t(i * i);
        // Rows: 0 1 4 -> 1, 9 16 25 -> 16, 36 49 64 -> 49.
        CHECK(blur_reference(input)(0, 0) == (1 + 16 + 49) / 3);
    }
    TEST_CASE("unsharp leaves a flat picture as it is, and overshoots at an edge") {
        Image<float> flat = painted<float>(9, 9, 3, [](int, int, int) { return 0.5; });
        CHECK(difference(unsharp_reference(flat), flat, {1e-6, 0}).beyond == 0);
        Image<float> edge =
            painted<float>(16, 4, 3, [](int x, int, int) { return x < 8 ? 0.25 : 0.75; });
        Image<float> sharp = unsharp_reference(edge);
        CHECK(sharp(7, 1, 0) < 0.25f);
        CHECK(sharp(8, 1, 0) > 0.75f);
    }
    TEST_CASE("harris is positive at a corner, negative at an edge, zero on a plane") {
        Image<float> square =
            painted<float>(24, 24, 3, [](int x, int y, int) { return x >= 12 && y >= 12; });
        Image<float> corners = harris_reference(square);
        CHECK(corners.width() == 18);
        CHECK(corners(12 - 3, 12 - 3) > 0.0f);
        CHECK(corners(12 - 3, 17) < 0.0f);
        CHECK(corners(1, 1) == 0.0f);
    }
    TEST_CASE("the bilateral grid smooths noise and keeps an edge") {
        Image<float> noisy = painted<float>(48, 40, 1, [](int x, int y, int) {
            return (x < 24 ? 0.1 : 0.9) + ((x + y) % 2 ? 0.02 : -0.02);
        });
        Image<float> smooth = bilateral_grid_reference(noisy, {8, 0.1f});
        CHECK(smooth(5, 20) == doctest::Approx(0.1).epsilon(0.05));
        CHECK(smooth(23, 20) < 0.2f);
        CHECK(smooth(24, 20) > 0.8f);
    }
    TEST_CASE("the local Laplacian without gain returns a grey picture") {
        Image<uint16_t> picture = painted<uint16_t>(
            40, 33, 3, [](int x, int y, int) { return (x * 977 + y * 1301) % 60000; });
        LocalLaplacianSettings settings;
        settings.alpha = 0;
        CHECK(difference(local_laplacian_reference(picture, settings), picture, {8, 0}).beyond ==
              0);
    }
    TEST_CASE("the local Laplacian strengthens small contrast") {
        Image<uint16_t> picture =
            painted<uint16_t>(32, 32, 3, [](int x, int, int) { return x % 8 < 4 ? 30000 : 32000; });
        Image<uint16_t> result = local_laplacian_reference(picture, {});
        CHECK(result(22, 16, 0) - result(18, 16, 0) > 2200);
    }
    TEST_CASE("the camera returns about the picture that its mosaic was made from") {
        Camera camera;
        camera.sharpen_strength = 0;
        Image<float> picture = painted<float>(80, 64, 3, [](int x, int y, int c) {
            return 0.25 + 0.5 * (c == 0 ? x / 80.0 : c == 1 ? y / 64.0 : 0.5);
        });
        Image<uint8_t> result = camera_pipe_reference(mosaic(picture, camera), camera);
        REQUIRE(result.width() == 48);
        REQUIRE(result.height() == 40);
        for_each_pixel(48, 40, [&](int x, int y) {
            for (int c = 0; c < 3; c++) {
                float was = 255 * picture(x + Camera::border_x, y + Camera::border_y, c);
                CHECK(std::abs(float(result(x, y, c)) - was) < 12.0f);
            }
        });
    }
    TEST_CASE("the camera drops a hot pixel") {
        Camera camera;
        Image<uint16_t> raw = painted<uint16_t>(64, 48, 1, [](int, int, int) { return 400; });
        Image<uint8_t> clean = camera_pipe_reference(raw, camera);
        raw(30, 20) = 1023;
        CHECK(difference(camera_pipe_reference(raw, camera), clean, {}).beyond == 0);
    }
    TEST_CASE("the tone curve rises from black to white") {
        Camera camera;
        std::array<uint8_t, 1024> curve = tone_curve(camera);
        CHECK(curve[size_t(camera.black_level)] == 0);
        CHECK(curve[size_t(camera.white_level)] == 255);
        CHECK(std::is_sorted(curve.begin(), curve.end()));
    }
    TEST_CASE("the matrix of a light leaves white and black as they are, for each colour") {
        Camera camera;
        for (float kelvin : {3200.0f, 3700.0f, 7000.0f}) {
            camera.kelvin = kelvin;
            for (const std::array<float, 4> &row : colour_matrix(camera)) {
                float gain = row[0] + row[1] + row[2];
                CHECK(row[3] ==
                      doctest::Approx(float(camera.black_level) * (1 - gain)).epsilon(1e-3));
            }
        }
    }
    TEST_CASE("a convolution of one tap takes its neighbour, adds the bias and cuts below zero") {
        Image<float> input(2, 4, 4, 1), filter(3, 2, 9), bias(3);
        for (size_t i = 0; i < input.size(); i++) input.data()[i] = float(i);
        filter(0, 1, 5) = 2;  // channel 1, one to the right of the middle
        filter(1, 0, 0) = -1;
        bias(0) = 0.5f;
        Image<float> result = conv_layer_reference(input, filter, bias);
        CHECK(result.height() == 2);
        CHECK(result(0, 1, 1, 0) == 2 * input(1, 1 + 2, 1 + 1, 0) + 0.5f);
        CHECK(result(1, 1, 1, 0) == 0.0f);
        CHECK(result(2, 0, 0, 0) == 0.0f);
    }
    TEST_CASE("gemm multiplies rows by columns") {
        Image<float> a(2, 2), b(3, 2);
        for (size_t i = 0; i < 4; i++) a.data()[i] = float(i + 1);
        for (size_t i = 0; i < 6; i++) b.data()[i] = float(i + 1);
        Image<float> result = gemm_reference(a, b);
        CHECK(result(0, 0) == 1 * 1 + 2 * 4);
        CHECK(result(2, 1) == 3 * 3 + 4 * 6);
    }
    TEST_CASE("widening_gemm keeps what bytes and bfloat16s do not hold") {
        Image<uint8_t> a(2, 1);
        Image<int8_t> b(1, 2);
        a(0, 0) = a(1, 0) = 255;
        b(0, 0) = -128, b(0, 1) = 1;
        CHECK(widening_gemm_reference(a, b)(0, 0) == 255 * -128 + 255);
        CHECK(to_bfloat16(1.00390625f) == to_bfloat16(1));  // half of the last bit, to even
        CHECK(from_bfloat16(to_bfloat16(1.01171875f)) == 1.015625f);
        Image<uint16_t> c(1, 1);
        c(0, 0) = to_bfloat16(1.0078125f);
        CHECK(widening_gemm_reference(c, c)(0, 0) == 1.0078125f * 1.0078125f);
    }
    TEST_CASE("a stencil weights columns and rows from 1 to 5, and wraps") {
        Image<uint16_t> dot(7, 7);
        dot(3, 3) = 1000;
        Image<uint16_t> once = stencil_chain_reference(dot, 1);
        CHECK(once(3, 3) == 9 * 1000);
        CHECK(once(1, 2) == 5 * 4 * 1000);  // sees the dot two to its right and one below
        CHECK(once(0, 3) == 0);
        Image<uint16_t> flat = painted<uint16_t>(5, 4, 1, [](int, int, int) { return 3; });
        CHECK(stencil_chain_reference(flat, 3)(2, 1) == uint16_t(3u * 225u * 225u * 225u));
    }
    TEST_CASE("interpolation keeps what is known, and what is unknown does not count") {
        Image<float> sparse = painted<float>(64, 48, 4, [](int x, int, int c) {
            const bool known = x % 8 == 4;
            return c == 3 ? float(known) : known ? 0.25f : 100.0f;
        });
        Image<float> flat = painted<float>(64, 48, 3, [](int, int, int) { return 0.25; });
        CHECK(difference(interpolate_reference(sparse, 10), flat, {1e-5, 0}).beyond == 0);
        sparse(12, 20, 1) = 0.75f;
        Image<float> result = interpolate_reference(sparse, 10);
        CHECK(result(12, 20, 1) == doctest::Approx(0.75));
        CHECK(result(13, 20, 1) > 0.26f);
        CHECK(result(13, 20, 1) < 0.75f);
        CHECK(result(13, 20, 0) == doctest::Approx(0.25));
    }
    TEST_CASE("non-local means smooth what looks alike, and keep an edge") {
        Image<float> noisy = painted<float>(32, 24, 3, [](int x, int y, int) {
            return (x < 16 ? 0.2 : 0.8) + ((x + y) % 2 ? 0.03 : -0.03);
        });
        Image<float> result = nl_means_reference(noisy, {});
        CHECK(std::abs(result(6, 12, 0) - 0.2f) < 0.015f);
        CHECK(result(15, 12, 0) < 0.25f);
        CHECK(result(16, 12, 0) > 0.75f);
        NlMeansSettings exact;
        exact.sigma = 1e-3f;
        CHECK(difference(nl_means_reference(noisy, exact), noisy, {1e-2, 0}).beyond == 0);
    }
    TEST_CASE("equalized, each brightness becomes the part of the picture that is not brighter") {
        Image<uint8_t> dark = painted<uint8_t>(16, 4, 3, [](int x, int, int) { return x / 4; });
        Image<uint8_t> result = hist_reference(dark);
        for (int c = 0; c < 3; c++) {
            CHECK(result(0, 0, c) == 63);
            CHECK(result(5, 1, c) == 127);
            CHECK(result(15, 3, c) == 255);
        }
    }
    TEST_CASE("the recursive blur spreads a line to both sides, and keeps a flat picture") {
        Image<float> line = painted<float>(41, 8, 1, [](int x, int, int) { return x == 20; });
        Image<float> result = iir_blur_reference(line, 0.5f);
        CHECK(result(20, 4) == doctest::Approx(1.0 / 3));  // 1/4 * (1 + 1/4 + 1/16 + ...)
        CHECK(result(21, 4) == doctest::Approx(1.0 / 6));
        CHECK(result(19, 4) == doctest::Approx(1.0 / 6));
        Image<float> flat = painted<float>(9, 5, 2, [](int, int, int c) { return 0.5 + c; });
        CHECK(difference(iir_blur_reference(flat, 0.1f), flat, {1e-5, 0}).beyond == 0);
    }
    TEST_CASE("the largest value fills a disc") {
        Image<float> dot(21, 21);
        dot(10, 10) = 1;
        Image<float> result = max_filter_reference(dot, 5);
        CHECK(result(15, 10) == 1);
        CHECK(result(16, 10) == 0);
        CHECK(result(14, 13) == 1);
        CHECK(result(14, 14) == 0);
    }
    TEST_CASE("resized, a flat picture is flat, and a box takes the mean or the nearest") {
        Image<float> flat = painted<float>(20, 12, 1, [](int, int, int) { return 0.5; });
        Image<uint8_t> steps = painted<uint8_t>(8, 8, 1, [](int x, int, int) { return 20 * x; });
        for (ResizeKernel kernel : resize_kernels) {
            for (float factor : {0.4f, 2.5f}) {
                Image<float> result = resize_reference(flat, factor, kernel);
                CHECK(result.width() == int(20 * factor));
                for (size_t i = 0; i < result.size(); i++) {
                    CHECK(result.data()[i] == doctest::Approx(0.5));
                }
            }
            CHECK(resize_reference(steps, 1, kernel)(5, 3) == 100);
        }
        CHECK(resize_reference(steps, 0.5f, ResizeKernel::Box)(1, 1) == 50);
        CHECK(resize_reference(steps, 2, ResizeKernel::Box)(7, 1) == 60);
        CHECK(resize_reference(steps, 2, ResizeKernel::Linear)(7, 1) == 65);
    }
    TEST_CASE("a depthwise filter stays in its channel, with zeros around the picture") {
        Image<float> input(2, 3, 3, 1), depthwise(2, 3, 3), pointwise(3, 2), bias(3);
        for (size_t i = 0; i < input.size(); i++) input.data()[i] = float(i + 1);
        depthwise(0, 2, 1) = 2;   // the neighbour to the right, of channel 0
        depthwise(1, 1, 1) = -1;  // itself, of channel 1
        pointwise(0, 0) = pointwise(1, 1) = pointwise(2, 0) = pointwise(2, 1) = 1;
        bias(0) = 0.5f;
        Image<float> result = depthwise_separable_conv_reference(input, depthwise, pointwise, bias);
        CHECK(result(0, 1, 1) == 2 * input(0, 2, 1) + 0.5f);
        CHECK(result(0, 2, 1) == 0.5f);
        CHECK(result(1, 1, 1) == 0);
        CHECK(result(2, 1, 1) == 2 * input(0, 2, 1) - input(1, 1, 1));
    }
    TEST_CASE("the blur of floats is the mean of nine") {
        Image<float> input(4, 3);
        for (size_t i = 0; i < 12; i++) input.data()[i] = float(i);
        CHECK(blur_f32_reference(input)(0, 0) == 5);
        CHECK(blur_f32_reference(input)(1, 0) == 6);
    }
    TEST_CASE("softmax gives parts of a row that add up to 1, however large the values are") {
        Image<float> row(3, 1);
        row(0) = 1000;
        row(1) = row(2) = 1000 + std::log(2.0f);
        Image<float> result = softmax_reference(row);
        CHECK(result(0) == doctest::Approx(0.2));
        CHECK(result(1) == doctest::Approx(0.4));
    }
    TEST_CASE("layer normalization moves and scales each row by itself") {
        Image<float> input(2, 2), scale(2), shift(2);
        input(0, 0) = 3, input(1, 0) = 5;  // mean 4, deviation 1
        input(0, 1) = input(1, 1) = 7;     // without any
        scale(0) = 2, scale(1) = 10;
        shift(1) = 100;
        Image<float> result = layer_norm_reference(input, scale, shift);
        CHECK(result(0, 0) == doctest::Approx(-2));
        CHECK(result(1, 0) == doctest::Approx(110));
        CHECK(result(0, 1) == 0);
        CHECK(result(1, 1) == 100);
    }
    TEST_CASE("attention takes the values of the keys that a query points to") {
        Image<float> query(4, 1), key(4, 3), value(4, 3);
        query(2, 0) = 40;
        key(2, 1) = key(2, 2) = 40;  // over the square root of 4, products of 800: e^800 times more
        for (int d = 0; d < 4; d++) value(d, 0) = 9, value(d, 1) = float(d), value(d, 2) = 2;
        Image<float> result = attention_reference(query, key, value);
        CHECK(result(0, 0) == 1);
        CHECK(result(3, 0) == 2.5f);
    }
}
