#include "base/error.h"
#include "files/format.h"
#include "files/number.h"
#include "support/full_disk.h"
#include "tools/run/convert.h"
#include "tools/run/tiff.h"
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <tiffio.h>
#include <unistd.h>

using namespace tessera;
using files::Array;

namespace {

namespace fs = std::filesystem;

// A file of this process, gone when the test ends.
class TiffPath {
public:
    TiffPath()
        : path((fs::temp_directory_path() / ("tessera_" + std::to_string(getpid()) + ".tif"))
                   .string()) {}
    ~TiffPath() { fs::remove(path); }
    TiffPath(const TiffPath &) = delete;
    TiffPath &operator=(const TiffPath &) = delete;
    const std::string path;
};

Array pattern(tessera_type_t type, const std::vector<int> &extents) {
    Array a(type, extents);
    for (size_t i = 0; i < a.bytes.size(); i++) a.bytes[i] = uint8_t(i * 37 % 120);
    return a;
}

// A file of one channel, of tiles or of strips.
void write_special(const std::string &path, const Array &image, int tile, int photometric,
                   int planar, int orientation = ORIENTATION_TOPLEFT) {
    TIFF *file = TIFFOpen(path.c_str(), "w");
    REQUIRE(file);
    TIFFSetField(file, TIFFTAG_IMAGEWIDTH, image.extent(0));
    TIFFSetField(file, TIFFTAG_IMAGELENGTH, image.extent(1));
    TIFFSetField(file, TIFFTAG_SAMPLESPERPIXEL, image.extent(2));
    TIFFSetField(file, TIFFTAG_BITSPERSAMPLE, 8);
    TIFFSetField(file, TIFFTAG_PHOTOMETRIC, photometric);
    TIFFSetField(file, TIFFTAG_PLANARCONFIG, planar);
    TIFFSetField(file, TIFFTAG_ORIENTATION, orientation);
    std::vector<uint8_t> buffer(size_t(tile ? tile * tile : image.extent(0)));
    if (tile) {
        TIFFSetField(file, TIFFTAG_TILEWIDTH, tile);
        TIFFSetField(file, TIFFTAG_TILELENGTH, tile);
    }
    int width = image.extent(0), height = image.extent(1);
    for (int c = 0; c < image.extent(2); c++) {
        auto at = [&](int x, int y) {
            bool inside = x < width && y < height;
            return inside ? image.bytes[size_t((c * height + y) * width + x)] : uint8_t(0);
        };
        for (int y0 = 0; y0 < height; y0 += tile ? tile : 1) {
            for (int x0 = 0; x0 < width; x0 += tile ? tile : width) {
                for (size_t i = 0; i < buffer.size(); i++) {
                    int row = tile ? int(i) / tile : 0, column = tile ? int(i) % tile : int(i);
                    buffer[i] = at(x0 + column, y0 + row);
                }
                if (tile) {
                    TIFFWriteTile(file, buffer.data(), uint32_t(x0), uint32_t(y0), 0, uint16_t(c));
                } else {
                    TIFFWriteScanline(file, buffer.data(), uint32_t(y0), uint16_t(c));
                }
            }
        }
    }
    TIFFClose(file);
}

}  // namespace

TEST_SUITE("TIFF") {
    TEST_CASE("pictures of every type and number of channels survive a file") {
        TiffPath file;
        for (tessera_type_t type :
             {tessera_type_t(tessera_type_uint, 8), tessera_type_t(tessera_type_int, 16),
              tessera_type_t(tessera_type_uint, 64), tessera_type_t(tessera_type_float, 16),
              tessera_type_t(tessera_type_float, 32), tessera_type_t(tessera_type_float, 64)}) {
            for (const std::vector<int> &extents :
                 {std::vector<int>{17, 9}, {17, 9, 2}, {17, 9, 3}, {5, 4, 4}, {5, 4, 7}}) {
                CAPTURE(files::name_of(type));
                CAPTURE(extents.size());
                Array a = pattern(type, extents);
                run::write_tiff(a, file.path, "");
                Array b = files::read_file(file.path, run::formats());
                CHECK(b.type == type);
                CHECK(b.extents == extents);
                CHECK(b.bytes == a.bytes);
                CHECK(b.is_picture);
                CHECK(b.notes.empty());
            }
        }
    }
    TEST_CASE("tiles, planes and inverted samples are read") {
        TiffPath file;
        Array a = pattern({tessera_type_uint, 8}, {37, 21, 3}), grey = pattern(a.type, {37, 21});
        for (int tile : {0, 16}) {
            write_special(file.path, a, tile, PHOTOMETRIC_RGB, PLANARCONFIG_SEPARATE);
            Array b = run::read_tiff(file.path, "");
            CHECK(b.extents == a.extents);
            CHECK(b.bytes == a.bytes);
            write_special(file.path, grey, tile, PHOTOMETRIC_MINISWHITE, PLANARCONFIG_CONTIG);
            b = run::read_tiff(file.path, "");
            CHECK(b.extents == grey.extents);
            CHECK(b.bytes[5] == 255 - grey.bytes[5]);
            CHECK(b.bytes[300] == 255 - grey.bytes[300]);
            REQUIRE(b.notes.size() == 1);
            CHECK(b.notes[0] == "its samples are converted to 8 bits of grey or RGB");
        }
    }
    TEST_CASE("pictures are turned as their orientation says") {
        TiffPath file;
        // The file holds columns a b c, and rows of which the second is in capitals.
        const std::string stored = "abcABC";
        const std::pair<int, std::string> upright[] = {
            {ORIENTATION_TOPLEFT, "abcABC"},  {ORIENTATION_TOPRIGHT, "cbaCBA"},
            {ORIENTATION_BOTRIGHT, "CBAcba"}, {ORIENTATION_BOTLEFT, "ABCabc"},
            {ORIENTATION_LEFTTOP, "aAbBcC"},  {ORIENTATION_RIGHTTOP, "AaBbCc"},
            {ORIENTATION_RIGHTBOT, "CcBbAa"}, {ORIENTATION_LEFTBOT, "cCbBaA"}};
        Array a({tessera_type_uint, 8}, {3, 2});
        std::copy(stored.begin(), stored.end(), a.bytes.begin());
        for (int photometric : {PHOTOMETRIC_MINISBLACK, PHOTOMETRIC_MINISWHITE}) {
            for (const auto &[orientation, wanted] : upright) {
                CAPTURE(orientation);
                write_special(file.path, a, 0, photometric, PLANARCONFIG_CONTIG, orientation);
                Array b = run::read_tiff(file.path, "");
                std::string seen(b.bytes.begin(), b.bytes.end());
                if (photometric == PHOTOMETRIC_MINISWHITE)
                    for (char &c : seen) c = char(255 - uint8_t(c));
                CHECK(seen == wanted);
                CHECK(b.extent(0) == (orientation < ORIENTATION_LEFTTOP ? 3 : 2));
            }
        }
    }
    TEST_CASE("a strip that is shorter than its rows is refused, or warned of") {
        TiffPath file;
        const auto write_strips = [&](int compression, int bits, size_t missing) {
            TIFF *out = TIFFOpen(file.path.c_str(), "w");
            REQUIRE(out);
            TIFFSetField(out, TIFFTAG_IMAGEWIDTH, 64);
            TIFFSetField(out, TIFFTAG_IMAGELENGTH, 32);
            TIFFSetField(out, TIFFTAG_BITSPERSAMPLE, bits);
            TIFFSetField(out, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
            TIFFSetField(out, TIFFTAG_COMPRESSION, compression);
            TIFFSetField(out, TIFFTAG_ROWSPERSTRIP, 8);
            std::vector<uint8_t> strip(size_t(64 * bits));
            for (size_t i = 0; i < strip.size(); i++) strip[i] = uint8_t(i * 37);
            for (uint32_t s = 0; s < 4; s++)
                TIFFWriteEncodedStrip(out, s, strip.data(),
                                      tmsize_t(strip.size() - (s == 1 ? missing : 0)));
            TIFFClose(out);
        };
        for (int bits : {1, 8}) {
            write_strips(COMPRESSION_NONE, bits, size_t(24 * bits));
            CHECK_THROWS_WITH_AS(run::read_tiff(file.path, ""), "strip 1 ends before its rows do",
                                 RuntimeError);
            write_strips(COMPRESSION_NONE, bits, 0);
            CHECK_NOTHROW(run::read_tiff(file.path, ""));
        }
        write_strips(COMPRESSION_LZW, 8, 192);
        CHECK_THROWS_WITH_AS(run::read_tiff(file.path, ""), doctest::Contains("Not enough data"),
                             RuntimeError);
        write_strips(COMPRESSION_CCITTFAX4, 1, 24);
        const Array a = run::read_tiff(file.path, "");
        REQUIRE(a.notes.size() == 2);
        CHECK(a.notes[1].starts_with("libtiff warns: Premature EOL at line 5 of strip 1"));
    }
    TEST_CASE("on a full disk a file keeps what it has") {
        TiffPath file;
        const Array small = pattern({tessera_type_uint, 8}, {5, 4});
        Array large({tessera_type_uint, 16}, {300, 300});
        for (size_t i = 0; i < large.bytes.size(); i++) large.bytes[i] = uint8_t(i * i >> 7);
        run::write_tiff(small, file.path, "");
        {
            FullDisk full(2000);
            CHECK_THROWS_AS(run::write_tiff(large, file.path, ""), RuntimeError);
        }
        CHECK(run::read_tiff(file.path, "").bytes == small.bytes);
    }
    TEST_CASE("no damage of a file crashes") {
        TiffPath file;
        Array a = pattern({tessera_type_uint, 8}, {9, 7, 3});
        for (bool tiles : {false, true}) {
            if (tiles) {
                write_special(file.path, a, 16, PHOTOMETRIC_RGB, PLANARCONFIG_SEPARATE);
            } else {
                run::write_tiff(a, file.path, "");
            }
            std::ifstream in(file.path, std::ios::binary);
            std::string whole(std::istreambuf_iterator<char>(in), {});
            in.close();
            int refused = 0;
            auto attempt = [&](const std::string &bytes) {
                std::ofstream(file.path, std::ios::binary) << bytes;
                try {
                    run::read_tiff(file.path, "");
                } catch (const RuntimeError &) {
                    refused++;
                }
            };
            // The samples of a tile may be anything; the directory is behind them.
            size_t step = tiles ? 7 : 1;
            for (size_t i = 0; i < whole.size(); i += i + 250 < whole.size() ? step : 1) {
                std::string damaged = whole;
                damaged[i] = char(damaged[i] ^ 0xff);
                attempt(damaged);
                if (i % 3 == 0) attempt(whole.substr(0, i));
            }
            CHECK(refused > 60);
        }
        CHECK_THROWS_WITH_AS(run::read_tiff("no.tif", ""), doctest::Contains("No such file"),
                             RuntimeError);
        CHECK_THROWS_WITH_AS(run::write_tiff(Array({tessera_type_uint, 8}, {0, 3}), file.path, ""),
                             "the image has no pixels", RuntimeError);
    }
}
