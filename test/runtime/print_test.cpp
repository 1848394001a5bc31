#include "capture.h"
#include <cmath>
#include <doctest/doctest.h>
#include <limits>

namespace {

template<typename F> std::string written(F f) {
    char text[200];
    char *end = f(text, text + sizeof(text));
    CHECK(*end == 0);
    return text;
}

}  // namespace

TEST_SUITE("runtime printing") {
    TEST_CASE("numbers") {
        auto int64 = [](int64_t v, int digits) {
            return written(
                [=](char *d, char *e) { return tessera_int64_to_string(d, e, v, digits); });
        };
        auto real = [](double v, int scientific) {
            return written(
                [=](char *d, char *e) { return tessera_double_to_string(d, e, v, scientific); });
        };
        CHECK(int64(0, 1) == "0");
        CHECK(int64(-17, 4) == "-0017");
        CHECK(int64(INT64_MIN, 1) == "-9223372036854775808");
        CHECK(written([](char *d, char *e) {
                  return tessera_uint64_to_string(d, e, UINT64_MAX, 1);
              }) == "18446744073709551615");
        CHECK(real(1.5, 0) == "1.500000");
        CHECK(real(-1234567.0, 1) == "-1.234567e+06");
        CHECK(real(std::nan(""), 0) == "nan");
        CHECK(real(-std::numeric_limits<double>::infinity(), 0) == "-inf");
    }
    TEST_CASE("pointers, types and buffers") {
        CHECK(written([](char *d, char *e) {
                  return tessera_pointer_to_string(d, e, reinterpret_cast<void *>(0xabc));
              }) == "0xabc");
        auto type = [](tessera_type_t t) {
            return written([&](char *d, char *e) { return tessera_type_to_string(d, e, &t); });
        };
        CHECK(type({tessera_type_uint, 8, 1}) == "uint8");
        CHECK(type({tessera_type_uint, 1, 16}) == "boolx16");
        CHECK(type({tessera_type_bfloat, 16, 2}) == "bfloat16x2");
        CHECK(type({tessera_type_handle, 64, 1}) == "handle");
        tessera_dimension_t dims[] = {{0, 10, 1, 0}, {-1, 5, 10, 0}};
        tessera_buffer_t buffer{
            0, nullptr, nullptr, tessera_buffer_flag_host_dirty, {tessera_type_float, 32, 1},
            2, dims,    nullptr};
        CHECK(written([&](char *d, char *e) { return tessera_buffer_to_string(d, e, &buffer); }) ==
              "buffer(float32, host 0x0, host dirty, {0, 10, 1}, {-1, 5, 10})");
    }
    TEST_CASE("nothing is written past the end") {
        char text[8] = "zzzzzzz";
        char *end = tessera_string_to_string(text, text + 4, "abcdef");
        CHECK(std::string(text) == "abc");
        CHECK(end == text + 3);
        CHECK(text[4] == 'z');
        CHECK(tessera_string_to_string(end, text + 4, "x") == end);
        CHECK(tessera_string_to_string(text, text, "x") == text);
        CHECK(tessera_string_to_string(nullptr, nullptr, "x") == nullptr);
    }
    TEST_CASE("print goes to whoever replaced it") {
        Capture capture;
        tessera_print(nullptr, "hello\n");
        CHECK(capture.text() == "hello\n");
    }
}
