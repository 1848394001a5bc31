#include "base/error.h"
#include "files/format.h"
#include "files/formats.h"
#include "files/number.h"
#include "folder.h"
#include "support/full_disk.h"
#include <algorithm>
#include <cstring>
#include <vector>
#include <zlib.h>

using namespace tessera;
using namespace tessera::files;

namespace {

const std::vector<tessera_type_t> all_types = {
    {tessera_type_uint, 1},    {tessera_type_uint, 8},        {tessera_type_uint, 16},
    {tessera_type_uint, 32},   {tessera_type_uint, 64},       {tessera_type_int, 8},
    {tessera_type_int, 16},    {tessera_type_int, 32},        {tessera_type_int, 64},
    {tessera_type_float, 16},  {tessera_type_float, 32},      {tessera_type_float, 64},
    {tessera_type_bfloat, 16}, {tessera_type_float8_e4m3, 8}, {tessera_type_float8_e5m2, 8}};

// Small numbers, the ends of an integer type, and halves of floats.
Array pattern(tessera_type_t type, const std::vector<int> &extents) {
    Array array(type, extents);
    size_t count = array.number_of_elements(), bytes = size_t(type.bytes());
    for (size_t i = 0; i < count; i++) {
        long double value = static_cast<long double>(i % 2 + (type.bits > 1 ? i % 50 : 0));
        if (is_float(type)) value = value / 2 - 3;
        if (is_integer(type) && i + 1 == count) value = highest_of(type);
        if (is_integer(type) && i + 2 == count) value = lowest_of(type);
        store_number(type, array.bytes.data() + i * bytes, value);
    }
    return array;
}

std::vector<double> numbers(const Array &array) {
    std::vector<double> values;
    size_t bytes = size_t(array.type.bytes());
    for (size_t i = 0; i < array.number_of_elements(); i++) {
        values.push_back(double(number_at(array.type, array.bytes.data() + i * bytes)));
    }
    return values;
}

std::string npy(const std::string &header, const std::string &data, char version = 1) {
    std::string text = "\x93NUMPY" + std::string(1, version) + std::string(1, '\0');
    uint32_t length = uint32_t(header.size());
    text.append(reinterpret_cast<const char *>(&length), version == 1 ? 2 : 4);
    return text + header + data;
}

// Elements of a MAT-file.
std::string word(uint32_t value) { return {reinterpret_cast<const char *>(&value), 4}; }
std::string element(uint32_t kind, std::string data) {
    std::string text = word(kind) + word(uint32_t(data.size())) + data;
    text.resize((text.size() + 7) / 8 * 8);
    return text;
}
std::string matrix(uint32_t flags, std::vector<int> extents, const std::string &name,
                   const std::string &values) {
    std::string sizes(reinterpret_cast<const char *>(extents.data()), extents.size() * 4);
    return element(14, element(6, word(flags) + word(0)) + element(5, sizes) + element(1, name) +
                           values);
}
std::string compressed(const std::string &text) {
    std::string out(compressBound(text.size()), '\0');
    uLongf size = out.size();
    REQUIRE(compress(reinterpret_cast<Bytef *>(out.data()), &size,
                     reinterpret_cast<const Bytef *>(text.data()), text.size()) == Z_OK);
    return word(15) + word(uint32_t(size)) + out.substr(0, size);
}
std::string mat(const std::string &elements,
                const std::string &version = std::string("\0\1IM", 4)) {
    return std::string(124, ' ') + version + elements;
}
std::string doubles(std::vector<double> values) {
    return element(9, {reinterpret_cast<const char *>(values.data()), values.size() * 8});
}

Array read(const std::string &path, const std::string &name = "") {
    return read_file(path, all_formats(), name);
}

// Whatever byte is damaged, and wherever the file ends: it is read, or refused.
int refusals_of_damage(const Folder &folder, const std::string &whole) {
    int refused = 0;
    auto attempt = [&](const std::string &bytes) {
        write(folder / "bad", bytes);
        try {
            read(folder / "bad");
        } catch (const RuntimeError &) {
            refused++;
        }
    };
    for (size_t i = 0; i < whole.size(); i++) {
        for (int bits : {0x55, 0xff, 0x80}) {
            std::string damaged = whole;
            damaged[i] = char(damaged[i] ^ bits);
            attempt(damaged);
        }
        attempt(whole.substr(0, i));
    }
    return refused;
}

#define CHECK_REFUSED(expression, words)                                                           \
    CHECK_THROWS_WITH_AS((void)(expression), doctest::Contains(words), RuntimeError)

}  // namespace

TEST_SUITE("files") {
    TEST_CASE("arrays of every type and any number of dimensions survive an .npy file") {
        Folder folder;
        for (tessera_type_t type : all_types) {
            for (const std::vector<int> &extents :
                 {std::vector<int>{}, {7}, {5, 3}, {5, 3, 2}, {2, 3, 4, 5}, {0, 4}}) {
                CAPTURE(name_of(type));
                Array a = pattern(type, extents);
                write_npy(a, folder / "a.npy", "");
                Array b = read(folder / "a.npy");
                CHECK(b.type == type);
                CHECK(b.extents == extents);
                CHECK(b.bytes == a.bytes);
            }
        }
    }
    TEST_CASE("what NumPy writes is read") {
        Folder folder;
        // numpy.save of array([[1, 2, 3], [4, 5, 6]], '<i2'): element (x, y) is array[y, x]
        std::string rows("\1\0\2\0\3\0\4\0\5\0\6\0", 12);
        for (char version : {1, 2, 3}) {
            write(folder / "a.npy",
                  npy("{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }\n", rows,
                      version));
            Array a = read(folder / "a.npy");
            CHECK(a.extents == std::vector{3, 2});
            CHECK(numbers(a) == std::vector<double>{1, 2, 3, 4, 5, 6});
        }
        // The same array, stored by columns, with the high byte first.
        write(folder / "f.npy", npy("{'shape': (2L, 3L), 'fortran_order': True, \"descr\": '>i2'}",
                                    std::string("\0\1\0\4\0\2\0\5\0\3\0\6", 12)));
        Array f = read(folder / "f.npy");
        CHECK(f.extents == std::vector{3, 2});
        CHECK(numbers(f) == std::vector<double>{1, 2, 3, 4, 5, 6});
        write(folder / "b.npy", npy("{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }",
                                    std::string("\0\1\7", 3)));
        CHECK(read(folder / "b.npy").bytes == std::vector<uint8_t>{0, 1, 1});
        Array written({tessera_type_float, 32}, {4});
        write_npy(written, folder / "w.npy", "");
        std::string text = contents_of(folder / "w.npy");
        CHECK(text.substr(10, 59) == "{'descr': '<f4', 'fortran_order': False, 'shape': (4, ), } ");
        CHECK(text.size() == 128 + 16);
    }
    TEST_CASE("an .npy file that cannot be read says why") {
        Folder folder;
        auto refused = [&](const std::string &bytes, const char *words) {
            write(folder / "a.npy", bytes);
            CHECK_REFUSED(read(folder / "a.npy"), words);
        };
        const std::string end = ", 'fortran_order': False, 'shape': (2, 3), }";
        refused(npy("{'descr': '<c8'" + end, ""), "its elements are '<c8', which no argument");
        refused(npy("{'descr': [('a', '<f4')]" + end, ""), "its elements are records");
        refused(npy("{'descr': '<f4'" + end, "1234"), "the file ends before the array does");
        refused(npy("{'descr': '<f4', 'shape': (2,)}", ""), "its header is damaged");
        refused(npy("{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}", ""),
                "its header is damaged");
        refused(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (-2,)}", ""),
                "its header is damaged");
        refused(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (3000000000,)}", ""),
                "a dimension of the array is longer than 2147483647");
        refused(npy("{'descr': '<f8', 'fortran_order': True, 'shape': (2000000000, 2000000000, "
                    "2000000000)}",
                    ""),
                "the file ends before the array does");
        refused(npy("", "", 4), "it is of version 4; 1 to 3 are read");
    }
    TEST_CASE("arrays of every type survive a .mat file") {
        Folder folder;
        for (tessera_type_t type : all_types) {
            CAPTURE(name_of(type));
            Array a = pattern(type, {5, 3, 2});
            write_mat(a, folder / "a.mat", "7 up");
            Array b = read(folder / "a.mat", "x7_up");
            bool half = is_float(type) && type.bits <= 16;
            CHECK(b.type == (half ? tessera_type_t(tessera_type_float, 32) : type));
            CHECK(b.extents == a.extents);
            CHECK(numbers(b) == numbers(a));
        }
        write_mat(pattern({tessera_type_int, 8}, {4}), folder / "v.mat", "v");
        CHECK(read(folder / "v.mat").extents == std::vector{4, 1});
        CHECK(contents_of(folder / "v.mat").substr(0, 19) == "MATLAB 5.0 MAT-file");
    }
    TEST_CASE("what MATLAB writes is read") {
        Folder folder;
        // A double whose values are stored as bytes, in a small element.
        std::string small = word(2 | 3 << 16) + "\1\2\3" + std::string(1, '\0');
        write(folder / "a.mat", mat(matrix(6, {3, 1}, "a", small)));
        Array a = read(folder / "a.mat");
        CHECK(a.type == tessera_type_t(tessera_type_float, 64));
        CHECK(a.extents == std::vector{3, 1});
        CHECK(numbers(a) == std::vector<double>{1, 2, 3});
        // Several arrays, compressed, and one that is text.
        std::string text = matrix(4, {1, 2}, "text", element(4, std::string("h\0i\0", 4)));
        std::string first = matrix(6, {1, 2}, "first", doubles({1, 2}));
        std::string truths =
            matrix(9 | 0x200, {1, 2}, "truths", element(2, std::string("\0\5", 2)));
        write(folder / "b.mat", mat(text + compressed(first) + compressed(truths)));
        CHECK(numbers(read(folder / "b.mat", "first")) == std::vector<double>{1, 2});
        Array t = read(folder / "b.mat", "truths");
        CHECK(t.type == tessera_type_t(tessera_type_uint, 1));
        CHECK(t.bytes == std::vector<uint8_t>{0, 1});
        CHECK_REFUSED(read(folder / "b.mat", "second"),
                      "of its arrays, first, truths, none is called second");
        CHECK_REFUSED(read(folder / "b.mat", "text"), "text is no full array of numbers");
        write(folder / "c.mat", mat(compressed(text) + compressed(first)));
        CHECK(numbers(read(folder / "c.mat", "other")) == std::vector<double>{1, 2});
    }
    TEST_CASE("a .mat file with the high bytes first is read") {
        Folder folder;
        auto big = [](std::string text) {
            for (size_t i = 0; i + 4 <= text.size(); i += 4) std::reverse(&text[i], &text[i + 4]);
            return text;
        };
        std::string values("\x3f\xf0\0\0\0\0\0\0", 8);  // 1.0
        std::string inner = big(word(6) + word(8) + word(6) + word(0) + word(5) + word(8) +
                                word(1) + word(1) + word(1 | 1 << 16)) +
                            "a" + std::string(3, '\0') + big(word(9) + word(8)) + values;
        write(folder / "a.mat",
              mat(big(word(14) + word(uint32_t(inner.size()))) + inner, std::string("\1\0MI", 4)));
        CHECK(numbers(read(folder / "a.mat")) == std::vector<double>{1});
    }
    TEST_CASE("a .mat file that cannot be read says why") {
        Folder folder;
        auto refused = [&](const std::string &bytes, const char *words) {
            write(folder / "a.mat", bytes);
            CHECK_REFUSED(read(folder / "a.mat"), words);
        };
        refused(mat("", std::string("\0\2IM", 4)), "it is a MAT-file of level 2 (-v7.3, in HDF5)");
        refused(mat(""), "there is no array in it");
        refused(mat(matrix(6 | 0x800, {1, 1}, "z", doubles({1}) + doubles({2}))),
                "z has complex numbers");
        refused(mat(matrix(1, {1, 1}, "cells", "")), "cells is no full array of numbers");
        refused(mat(matrix(6, {2, 2}, "a", doubles({1}))), "the file is damaged");
        refused(mat(matrix(9, {1, 1}, "a", doubles({1}))), "the file is damaged");
        refused(mat(matrix(8, {1, 1}, "a", element(6, word(300)))), "the file is damaged");
        refused(mat(compressed(compressed(matrix(6, {1, 1}, "a", doubles({1}))))),
                "the file is damaged");
        refused(mat(word(14) + word(800)), "the file ends before the array does");
    }
    TEST_CASE("no damage of an .npy or .mat file crashes") {
        Folder folder;
        write_npy(pattern({tessera_type_int, 16}, {5, 3}), folder / "a.npy", "");
        CHECK(refusals_of_damage(folder, contents_of(folder / "a.npy")) > 150);
        write_mat(pattern({tessera_type_int, 16}, {5, 3}), folder / "a.mat", "a");
        CHECK(refusals_of_damage(folder, contents_of(folder / "a.mat")) > 150);
        std::string small = matrix(6, {3, 1}, "abc", word(2 | 3 << 16) + "\1\2\3" + '\0');
        CHECK(refusals_of_damage(folder, mat(compressed(small) + small)) > 150);
    }
    TEST_CASE("on a full disk a file keeps what it has") {
        Folder folder;
        for (const Format &f : all_formats()) {
            CAPTURE(f.name);
            const bool colour = std::string(f.name) == "PPM";
            const auto extents = [&](int size) {
                return colour ? std::vector<int>{size, size, 3} : std::vector<int>{size, size};
            };
            const std::string path = folder / (std::string("a") + f.endings[0]);
            f.write(pattern({tessera_type_uint, 8}, extents(4)), path, "a");
            Array large({tessera_type_uint, 8}, extents(300));
            for (size_t i = 0; i < large.bytes.size(); i++) large.bytes[i] = uint8_t(i * i >> 7);
            {
                FullDisk full(2000);
                CHECK_REFUSED(f.write(large, path, "a"), "File too large");
            }
            CHECK(read(path).extents == extents(4));
        }
        CHECK(std::distance(std::filesystem::directory_iterator(folder / ""),
                            std::filesystem::directory_iterator()) == 5);
    }
    TEST_CASE("formats are told apart by their contents, and written by their endings") {
        Folder folder;
        write(folder / "text", "hello");
        CHECK_REFUSED(read(folder / "text"), "it is no PNG, PGM, PPM, NPY or MAT file");
        CHECK_REFUSED(read(folder / "none"), "No such file");
        CHECK_REFUSED(read("/tmp"), "it cannot be read");
        CHECK_REFUSED(format_for("a.jpg", all_formats()),
                      "the path must end in .png, .pgm, .ppm, .npy or .mat");
        CHECK(std::string(format_for("A.NPY", all_formats()).name) == "NPY");
        CHECK_REFUSED(write_png(pattern({tessera_type_float, 32}, {2, 2}), folder / "a.png", ""),
                      "a .png file cannot hold elements of float32");
        CHECK_REFUSED(write_npy(Array({tessera_type_handle, 64}, {1}), folder / "a.npy", ""),
                      "an .npy file cannot hold elements of handle64");
        CHECK_REFUSED(write_mat(Array({tessera_type_handle, 64}, {1}), folder / "a.mat", "a"),
                      "a .mat file cannot hold elements of handle64");
        CHECK_REFUSED(Array({tessera_type_uint, 8}, {2000000000, 2000000000, 2000000000}),
                      "there is no memory for an array of 2000000000x2000000000x2000000000 uint8");
    }
    TEST_CASE("numbers of every type are stored and told as text") {
        uint8_t bytes[8];
        tessera_type_t half(tessera_type_float, 16), brain(tessera_type_bfloat, 16);
        store_number(half, bytes, 65519.0L);
        CHECK(number_at(half, bytes) == 65504);
        // Beyond a double's last bit, but not a tie.
        store_number(brain, bytes, 1.00390625L + 1e-18L);
        CHECK(number_at(brain, bytes) == 1.0078125L);
        tessera_type_t wide(tessera_type_uint, 64), narrow(tessera_type_int, 8);
        store_number(wide, bytes, highest_of(wide));
        CHECK(number_text(wide, number_at(wide, bytes)) == "18446744073709551615");
        CHECK(number_text(narrow, lowest_of(narrow)) == "-128");
        CHECK(number_text({tessera_type_float, 32}, 0.1f) == "0.1");
        CHECK(number_text({tessera_type_float, 64}, 0.1) == "0.1");
        CHECK_REFUSED(number_at({tessera_type_handle, 64}, bytes),
                      "elements of handle64 are no numbers");
    }
}
