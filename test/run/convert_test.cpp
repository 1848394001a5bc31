#include "base/error.h"
#include "files/number.h"
#include "tools/run/convert.h"
#include <cmath>
#include <doctest/doctest.h>
#include <limits>

using namespace tessera;
using namespace tessera::run;
using files::Array;

// Between what files hold and what arguments are.
namespace {

const tessera_type_t boolean{tessera_type_uint, 1}, u8{tessera_type_uint, 8},
    u16{tessera_type_uint, 16}, u32{tessera_type_uint, 32}, i8{tessera_type_int, 8},
    i16{tessera_type_int, 16}, f16{tessera_type_float, 16}, f32{tessera_type_float, 32},
    bf16{tessera_type_bfloat, 16};

Array array(tessera_type_t type, const std::vector<int> &extents, std::vector<double> values,
            bool is_picture = false) {
    Array a(type, extents);
    a.is_picture = is_picture;
    REQUIRE(values.size() == a.number_of_elements());
    for (size_t i = 0; i < values.size(); i++) {
        files::store_number(type, a.bytes.data() + i * size_t(type.bytes()), values[i]);
    }
    return a;
}

Array picture(tessera_type_t type, const std::vector<int> &extents, std::vector<double> values) {
    return array(type, extents, std::move(values), true);
}

std::vector<double> values(const Array &a) {
    std::vector<double> all;
    for (size_t i = 0; i < a.number_of_elements(); i++) {
        all.push_back(double(files::number_at(a.type, &a.bytes[i * size_t(a.type.bytes())])));
    }
    return all;
}

using Values = std::vector<double>;

}  // namespace

TEST_SUITE("conversions") {
    TEST_CASE("samples of a picture stand for the range from 0 to 1") {
        Array p = picture(u8, {4, 1}, {0, 1, 128, 255});
        CHECK(values(with_type(p, f32)) == Values{0, 1 / 255.0f, 128 / 255.0f, 1});
        CHECK(values(with_type(p, u16)) == Values{0, 257, 128 * 257, 65535});
        CHECK(values(with_type(p, u32)) == Values{0, 16843009, 128.0 * 16843009, 4294967295.0});
        CHECK(values(with_type(p, boolean)) == Values{0, 0, 1, 1});
        CHECK(values(with_type(p, i16)) == Values{0, 1, 128, 255});
        Array f = picture(f32, {5, 1}, {-1, 0.5, 2, std::nan(""), 1});
        CHECK(values(with_type(f, u8)) == Values{0, 128, 255, 0, 255});
        Array t = with_type(picture(boolean, {2, 1}, {0, 1}), u8);
        CHECK(values(t) == Values{0, 255});
        CHECK(t.notes == std::vector<std::string>{"its bool become uint8; 1 becomes 255"});
        CHECK(with_type(p, u8).notes.empty());
        CHECK_THROWS_WITH_AS(with_type(p, i8), "its element at (2, 0), 128, is no int8",
                             RuntimeError);
    }
    TEST_CASE("elements of an array are numbers") {
        CHECK(values(with_type(array(u8, {2}, {0, 255}), f32)) == Values{0, 255});
        Array half = with_type(array(f32, {2}, {1.0009765625, 0.1}), f16);
        CHECK(half.notes == std::vector<std::string>{"its float32 become float16"});
        CHECK(values(half)[0] == 1.0009765625);
        CHECK(values(half)[1] != 0.1);
        double infinite = std::numeric_limits<double>::infinity();
        CHECK(values(with_type(array(f32, {1}, {infinite}), bf16)) == Values{infinite});
        CHECK_THROWS_WITH_AS(with_type(array(f32, {1}, {70000}), f16),
                             "its element at (0), 70000, is too large for float16", RuntimeError);
        CHECK_THROWS_WITH_AS(with_type(array(u8, {1}, {2}), boolean),
                             "its element at (0), 2, is no bool", RuntimeError);
        CHECK_THROWS_WITH_AS(with_type(array(f32, {2, 1}, {0, std::nan("")}), u8),
                             "its element at (1, 0), nan, is no uint8", RuntimeError);
    }
    TEST_CASE("dimensions of extent 1 come and go") {
        Array a = array(u8, {1, 2, 1, 1}, {5, 6});
        CHECK(with_dimensions(a, 2).extents == std::vector{1, 2});
        CHECK(with_dimensions(a, 1).extents == std::vector{2});
        CHECK(with_dimensions(a, 5).extents == std::vector{1, 2, 1, 1, 1});
        CHECK(with_dimensions(array(u8, {1, 1}, {5}), 0).extents.empty());
        CHECK_THROWS_WITH_AS(with_dimensions(a, 0),
                             "its array is 1x2x1x1, of 4 dimensions, but the argument has 0",
                             RuntimeError);
        // Nothing of an array is a colour.
        CHECK_THROWS_AS(with_dimensions(array(u8, {2, 1, 2, 2}, Values(8)), 2), RuntimeError);
    }
    TEST_CASE("colours become brightness, and channels are made") {
        Array rgb = picture(u8, {1, 2, 3}, {255, 10, 255, 20, 255, 30});
        Array grey = with_dimensions(rgb, 2);
        CHECK(grey.extents == std::vector{1, 2});
        CHECK(values(grey) == Values{255, std::round(0.299 * 10 + 0.587 * 20 + 0.114 * 30)});
        Array g = picture(u8, {1, 2, 1}, {7, 9}), ga = picture(u8, {1, 2, 2}, {7, 9, 1, 2});
        CHECK(values(with_channels(g, 3)) == Values{7, 9, 7, 9, 7, 9});
        CHECK(values(with_channels(g, 4)) == Values{7, 9, 7, 9, 7, 9, 255, 255});
        CHECK(values(with_channels(ga, 4)) == Values{7, 9, 7, 9, 7, 9, 1, 2});
        CHECK(values(with_channels(ga, 3)) == Values{7, 9, 7, 9, 7, 9});
        CHECK(values(with_channels(rgb, 4)) == Values{255, 10, 255, 20, 255, 30, 255, 255});
        CHECK(with_channels(rgb, 4).notes == std::vector<std::string>{"its 3 channels become 4"});
        CHECK(with_channels(g, 2).extents == g.extents);
        CHECK(with_channels(rgb, 5).extents == rgb.extents);
        CHECK(values(with_channels(picture(f32, {1, 1, 3}, {0, 0, 0}), 4)) == Values{0, 0, 0, 1});
    }
    TEST_CASE("files of pictures hold what they can") {
        const files::Format &png = files::format_for("a.png", formats());
        const files::Format &tiff = files::format_for("a.tif", formats());
        const files::Format &npy = files::format_for("a.npy", formats());
        CHECK(values(writable(array(f32, {2}, {0.5, 1}), png)) == Values{32768, 65535});
        CHECK(writable(array(f32, {2}, {0.5, 1}), png).extents == std::vector{2, 1});
        CHECK(values(writable(array(boolean, {2, 1}, {0, 1}), png)) == Values{0, 255});
        CHECK(writable(array(boolean, {2, 1}, {0, 1}), png).type == u8);
        CHECK(values(writable(array(i8, {2, 1}, {0, 100}), png)) == Values{0, 100});
        CHECK(writable(array(bf16, {2, 1}, {0, 1}), tiff).type == f32);
        CHECK(writable(array(i8, {2, 1}, {0, 1}), tiff).type == i8);
        CHECK(writable(array(bf16, {2, 1}, {0, 1}), npy).type == bf16);
        CHECK(writable(array(u8, {2, 1, 1, 1}, {0, 1}), png).extents == std::vector{2, 1, 1});
        CHECK_THROWS_WITH_AS(writable(array(u8, {1, 1, 1, 2}, {0, 1}), tiff),
                             "a picture cannot have the 4 dimensions 1x1x1x2; write an .npy or "
                             ".mat file",
                             RuntimeError);
    }
}
