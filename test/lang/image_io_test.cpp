#include "base/error.h"
#include "lang/image_io.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <png.h>
#include <unistd.h>

using namespace tessera;

namespace {

namespace fs = std::filesystem;

// A folder of this test, gone when it ends.
class Folder {
public:
    Folder() : path(fs::temp_directory_path() / ("tessera_image_" + std::to_string(getpid()))) {
        fs::create_directories(path);
    }
    ~Folder() { fs::remove_all(path); }
    Folder(const Folder &) = delete;
    Folder &operator=(const Folder &) = delete;
    std::string operator/(const std::string &name) const { return (path / name).string(); }

private:
    fs::path path;
};

std::string contents_of(const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

void write(const std::string &path, const std::string &bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
}

template<typename T> Buffer<T> pattern(int width, int height, int channels) {
    Buffer<T> b(width, height, channels);
    b.fill([](int x, int y, int c) { return T(x * 37 + y * 1001 + c * 77); });
    return b;
}

template<typename T> bool same(const Buffer<> &a, const Buffer<> &b) {
    bool equal = true;
    Buffer<T>(a).for_each_value([&](T u, T v) { equal = equal && u == v; }, Buffer<T>(b));
    return equal;
}

#define CHECK_REFUSED(expression, words)                                                           \
    CHECK_THROWS_WITH_AS((void)(expression), doctest::Contains(words), RuntimeError)

// A PNG of 8 x 2 pixels, each row the one byte 0b11100100, read as samples of `bits` bits.
void write_special_png(const std::string &path, int width, int bits, int color_type) {
    FILE *file = std::fopen(path.c_str(), "wb");
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
    png_infop info = png_create_info_struct(png);
    png_init_io(png, file);
    png_set_IHDR(png, info, png_uint_32(width), 2, bits, color_type, PNG_INTERLACE_ADAM7,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (color_type == PNG_COLOR_TYPE_PALETTE) {
        png_color colors[4] = {{1, 2, 3}, {10, 20, 30}, {50, 60, 70}, {255, 254, 253}};
        png_byte alpha[2] = {0, 128};
        png_set_PLTE(png, info, colors, 4);
        png_set_tRNS(png, info, alpha, 2, nullptr);
    }
    png_write_info(png, info);
    png_byte row[1] = {0b11100100};
    png_bytep rows[2] = {row, row};
    png_write_image(png, rows);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    std::fclose(file);
}

}  // namespace

TEST_SUITE("image files") {
    TEST_CASE("PNG keeps images of 8 and 16 bits with 1 to 4 channels") {
        Folder folder;
        for (int channels = 1; channels <= 4; channels++) {
            Buffer<uint8_t> a = pattern<uint8_t>(13, 7, channels);
            Buffer<uint16_t> b = pattern<uint16_t>(13, 7, channels);
            save_image(a, folder / "a.png");
            save_image(b, folder / "b.PNG");
            Buffer<> a2 = load_image(folder / "a.png"), b2 = load_image(folder / "b.PNG");
            if (channels == 1) {
                CHECK(a2.dimensions() == 2);
                a2 = a2.embedded(2);
                b2 = b2.embedded(2);
            }
            CHECK(same<uint8_t>(a, a2));
            CHECK(same<uint16_t>(b, b2));
        }
    }
    TEST_CASE("PGM and PPM keep images of 8 and 16 bits") {
        Folder folder;
        Buffer<uint8_t> rgb = pattern<uint8_t>(5, 4, 3);
        Buffer<uint16_t> wide = pattern<uint16_t>(5, 4, 3);
        save_image(rgb, folder / "a.ppm");
        CHECK(same<uint8_t>(rgb, load_image(folder / "a.ppm")));
        save_image(wide, folder / "a.ppm");
        CHECK(same<uint16_t>(wide, load_image(folder / "a.ppm")));
        save_image(rgb.sliced(2), folder / "a.pgm");
        CHECK(same<uint8_t>(rgb.sliced(2), load_image(folder / "a.pgm")));
        save_image(wide.sliced(2), folder / "a.pgm");
        CHECK(same<uint16_t>(wide.sliced(2), load_image(folder / "a.pgm")));
    }
    TEST_CASE("images of any layout and min are written") {
        Folder folder;
        Buffer<uint8_t> planar = pattern<uint8_t>(6, 5, 3);
        Buffer<uint8_t> moved = planar.copy_to_interleaved();
        moved.set_min(-3, 10, 0);
        save_image(moved, folder / "a.png");
        CHECK(same<uint8_t>(planar, load_image(folder / "a.png")));
        save_image(planar.cropped({{1, 2}, {2, 3}}), folder / "b.png");
        Buffer<uint8_t> part = load_image(folder / "b.png");
        CHECK(part.width() == 2);
        CHECK(part(0, 0, 2) == planar(1, 2, 2));
    }
    TEST_CASE("the text forms, comments and odd maxima of PGM and PPM are read") {
        Folder folder;
        write(folder / "a.pgm", "P2 # a comment\n2 # another\n2\n15\n0 15\n7 3\n");
        Buffer<uint8_t> grey = load_image(folder / "a.pgm");
        CHECK(grey(0, 0) == 0);
        CHECK(grey(1, 0) == 255);
        CHECK(grey(0, 1) == 119);
        write(folder / "a.ppm", "P3 1 1 1023 1023 0 512\n");
        Buffer<uint16_t> wide = load_image(folder / "a.ppm");
        CHECK(wide(0, 0, 0) == 65535);
        CHECK(wide(0, 0, 2) == 32800);
    }
    TEST_CASE("palettes, transparency, few bits and interlacing are expanded") {
        Folder folder;
        write_special_png(folder / "p.png", 4, 2, PNG_COLOR_TYPE_PALETTE);
        Buffer<uint8_t> p = load_image(folder / "p.png");
        CHECK(p.channels() == 4);
        CHECK(p(0, 0, 0) == 255);
        CHECK(p(0, 0, 3) == 255);
        CHECK(p(2, 1, 1) == 20);
        CHECK(p(2, 1, 3) == 128);
        CHECK(p(3, 0, 3) == 0);
        write_special_png(folder / "g.png", 8, 1, PNG_COLOR_TYPE_GRAY);
        Buffer<uint8_t> g = load_image(folder / "g.png");
        CHECK(g.dimensions() == 2);
        CHECK(g(0, 1) == 255);
        CHECK(g(3, 0) == 0);
        CHECK(g(5, 0) == 255);
    }
    TEST_CASE("a wrong element type is found when the file is loaded") {
        Folder folder;
        save_image(pattern<uint16_t>(3, 3, 3), folder / "a.png");
        CHECK_REFUSED(Buffer<uint8_t>(load_image(folder / "a.png")), "uint16, not uint8");
    }
    TEST_CASE("elements are converted when loaded and when saved") {
        Folder folder;
        Buffer<uint8_t> a = pattern<uint8_t>(6, 5, 3);
        save_image(a, folder / "a.png");
        Buffer<float> f = load_and_convert_image<float>(folder / "a.png");
        CHECK(f(3, 2, 1) == doctest::Approx(a(3, 2, 1) / 255.0));
        Buffer<uint16_t> w = load_and_convert_image<uint16_t>(folder / "a.png");
        CHECK(w(3, 2, 1) == a(3, 2, 1) * 257);
        CHECK(same<uint8_t>(convert_image(w, UInt(8)), a));
        save_image(f, folder / "f.png");
        Buffer<> back = load_image(folder / "f.png");
        CHECK(back.type() == UInt(16));
        CHECK(same<uint16_t>(back, w));
        convert_and_save_image(convert_image(a, UInt(32)), folder / "g.png");
        CHECK(same<uint16_t>(load_image(folder / "g.png"), w));
    }
    TEST_CASE("conversion clamps and rounds, NaN to zero") {
        Buffer<float> f(5);
        const float values[] = {-1, 2, 0.5f, std::nanf(""), 0.002f};
        f.fill([&](int x) { return values[x]; });
        Buffer<uint8_t> b = convert_image(f, UInt(8));
        CHECK(b(0) == 0);
        CHECK(b(1) == 255);
        CHECK(b(2) == 128);
        CHECK(b(3) == 0);
        CHECK(b(4) == 1);
        for (Type t : {UInt(8), UInt(16), UInt(32), Float(16), Float(32), Float(64), BFloat(16)}) {
            CHECK(same<uint8_t>(convert_image(convert_image(b, t), UInt(8)), b));
        }
        CHECK(convert_image(b, UInt(8)).same_as(b));
        CHECK_REFUSED(convert_image(b, Int(8)), "images of int8 are not converted");
    }
    TEST_CASE("a missing, foreign or unwritable file is refused with path and reason") {
        Folder folder;
        CHECK_REFUSED(load_image(folder / "no.png"), "no.png: No such file");
        write(folder / "empty.png", "");
        CHECK_REFUSED(load_image(folder / "empty.png"), "the file ends before the image does");
        write(folder / "text.png", "hello");
        CHECK_REFUSED(load_image(folder / "text.png"), "it is no PNG, PGM or PPM file");
        write(folder / "zero", std::string("P\0P\0", 4));
        CHECK_REFUSED(load_image(folder / "zero"), "it is no PNG");
        Buffer<uint8_t> a = pattern<uint8_t>(3, 3, 3);
        CHECK_REFUSED(save_image(a, folder / "no/where.png"), "where.png: No such file");
        CHECK_REFUSED(save_image(a, folder / "a.jpg"), "must end in .png, .pgm or .ppm");
        CHECK_REFUSED(save_image(a, folder / "a"), "must end in");
        CHECK_REFUSED(save_image(a, folder / "a.pgm"), "a .pgm file cannot have 3 channels");
        CHECK_REFUSED(save_image(Buffer<uint8_t>(3, 3, 5), folder / "a.png"), "5 channels");
        CHECK_REFUSED(save_image(Buffer<uint8_t>(3), folder / "a.png"), "2 or 3 dimensions");
        CHECK_REFUSED(save_image(Buffer<uint8_t>(0, 3), folder / "a.png"), "no pixels");
        CHECK_REFUSED(save_image(Buffer<uint8_t>(nullptr, 3, 3), folder / "a.png"), "no memory");
        CHECK_REFUSED(save_image(Buffer<int>(3, 3), folder / "a.png"), "images of int32");
        CHECK_REFUSED(save_image(Buffer<int>(), folder / "a.png"), "undefined");
    }
    TEST_CASE("a PNG in memory has the bytes of the file") {
        Folder folder;
        const Buffer<uint8_t> a = pattern<uint8_t>(17, 11, 3);
        save_image(a, folder / "a.png");
        CHECK(to_png(a) == contents_of(folder / "a.png"));
        Buffer<float> f(4, 4);
        f.fill(0.5f);
        save_image(f, folder / "f.png");
        CHECK(to_png(f) == contents_of(folder / "f.png"));
        CHECK_REFUSED(to_png(Buffer<int>(3, 3)), "cannot make a PNG of the image: images of int32");
        CHECK_REFUSED(to_png(Buffer<uint8_t>(3, 3, 5)), "5 channels");
        CHECK_REFUSED(to_png(Buffer<uint8_t>(0, 3)), "no pixels");
    }
    TEST_CASE("a truncated file is refused wherever it ends, and leaks nothing") {
        Folder folder;
        for (const char *name : {"a.png", "a.ppm"}) {
            save_image(pattern<uint8_t>(17, 11, 3), folder / name);
            std::string whole = contents_of(folder / name);
            for (size_t length = 0; length < whole.size(); length += 7) {
                write(folder / "cut", whole.substr(0, length));
                CHECK_THROWS_AS(load_image(folder / "cut"), RuntimeError);
            }
        }
    }
    TEST_CASE("a damaged PNG is refused, and no damage crashes") {
        Folder folder;
        save_image(pattern<uint8_t>(17, 11, 3), folder / "a.png");
        std::string whole = contents_of(folder / "a.png");
        int refused = 0;
        for (size_t i = 0; i < whole.size(); i++) {
            std::string damaged = whole;
            damaged[i] = char(damaged[i] ^ 0x55);
            write(folder / "bad.png", damaged);
            try {
                load_image(folder / "bad.png");
            } catch (const RuntimeError &) {
                refused++;
            }
        }
        CHECK(refused > int(whole.size()) / 2);
    }
    TEST_CASE("a header that promises absurd sizes is refused before memory is taken") {
        Folder folder;
        write(folder / "a.ppm", "P6 100000 100000 255\nabc");
        CHECK_REFUSED(load_image(folder / "a.ppm"), "the file ends before the image does");
        write(folder / "b.ppm", "P6 99999999999 1 255\nabc");
        CHECK_REFUSED(load_image(folder / "b.ppm"), "a number is too large");
        write(folder / "c.ppm", "P6 0 1 255\nabc");
        CHECK_REFUSED(load_image(folder / "c.ppm"), "no pixels");
        write(folder / "d.ppm", "P6 1 1 70000\nabcdef");
        CHECK_REFUSED(load_image(folder / "d.ppm"), "maximum is not within");
        write(folder / "e.ppm", "P6 x 1 255\nabcdef");
        CHECK_REFUSED(load_image(folder / "e.ppm"), "a number is missing");
        write(folder / "f.pgm", "P2 1 1 15\n16\n");
        CHECK_REFUSED(load_image(folder / "f.pgm"), "above the maximum");
    }
}
