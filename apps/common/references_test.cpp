#include "bilateral_grid/reference.h"
#include "blur/reference.h"
#include "camera_pipe/mosaic.h"
#include "camera_pipe/reference.h"
#include "common/compare.h"
#include "conv_layer/reference.h"
#include "gemm/reference.h"
#include "harris/reference.h"
#include "local_laplacian/reference.h"
#include "unsharp/reference.h"

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
        Image<float> smooth = bilateral_grid_reference(noisy, 8, 0.1f);
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
}
