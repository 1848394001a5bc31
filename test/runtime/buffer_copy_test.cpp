#include "capture.h"
#include <doctest/doctest.h>
#include <vector>

namespace {

using Dims = std::vector<tessera_dimension_t>;

tessera_buffer_t buffer_over(void *host, Dims &dims, tessera_type_t type) {
    return {0,           nullptr, static_cast<uint8_t *>(host), 0, type, int32_t(dims.size()),
            dims.data(), nullptr};
}

constexpr tessera_type_t int32{tessera_type_int, 32, 1};

}  // namespace

TEST_SUITE("runtime buffers") {
    TEST_CASE("the layout is that of halide_buffer_t") {
        CHECK(sizeof(tessera_buffer_t) == 56);
        CHECK(sizeof(tessera_dimension_t) == 16);
        CHECK(sizeof(tessera_type_t) == 4);
        CHECK(offsetof(tessera_buffer_t, device_interface) == 8);
        CHECK(offsetof(tessera_buffer_t, host) == 16);
        CHECK(offsetof(tessera_buffer_t, flags) == 24);
        CHECK(offsetof(tessera_buffer_t, type) == 32);
        CHECK(offsetof(tessera_buffer_t, dimensions) == 36);
        CHECK(offsetof(tessera_buffer_t, dim) == 40);
        CHECK(offsetof(tessera_buffer_t, padding) == 48);
    }
    TEST_CASE("sizes of dense, padded, reversed and empty buffers, above 2^31 too") {
        Dims dense{{0, 4, 1, 0}, {0, 3, 4, 0}}, padded{{0, 4, 1, 0}, {0, 3, 10, 0}};
        Dims reversed{{0, 4, -1, 0}}, empty{{0, 0, 1, 0}, {0, 5, 0, 0}};
        Dims huge{{0, 2147483647, 1, 0}, {0, 2, 2147483647, 0}};
        auto count = [](Dims &d) {
            tessera_buffer_t b = buffer_over(nullptr, d, int32);
            return tessera_buffer_number_of_elements(&b);
        };
        auto bytes = [](Dims &d) {
            tessera_buffer_t b = buffer_over(nullptr, d, int32);
            return tessera_buffer_size_in_bytes(&b);
        };
        CHECK(count(dense) == 12);
        CHECK(bytes(dense) == 48);
        CHECK(bytes(padded) == 24 * 4);
        CHECK(bytes(reversed) == 16);
        CHECK(count(empty) == 0);
        CHECK(bytes(empty) == 0);
        CHECK(count(huge) == 4294967294u);
        CHECK(bytes(huge) == 17179869176u);
        Dims absurd(5, {0, 2147483647, 2147483647, 0});
        CHECK(count(absurd) == UINT64_MAX);
        CHECK(bytes(absurd) == UINT64_MAX);
    }
    TEST_CASE("a region is copied between any layouts") {
        std::vector<int> planar(6 * 5 * 3);
        for (size_t i = 0; i < planar.size(); i++) planar[i] = int(i);
        Dims from{{-1, 6, 1, 0}, {0, 5, 6, 0}, {0, 3, 30, 0}};
        for (Dims to : {Dims{{0, 4, 1, 0}, {1, 3, 4, 0}, {0, 3, 12, 0}},
                        Dims{{0, 4, 3, 0}, {1, 3, 12, 0}, {0, 3, 1, 0}},
                        Dims{{0, 4, 10, 0}, {1, 3, 50, 0}, {0, 3, 2, 0}},
                        Dims{{-1, 6, 1, 0}, {0, 5, 6, 0}, {0, 3, 30, 0}},
                        Dims{{2, 1, 1, 0}, {3, 1, 1, 0}, {1, 1, 1, 0}}}) {
            std::vector<int> out(300, -1);
            tessera_buffer_t src = buffer_over(planar.data(), from, int32);
            tessera_buffer_t dst = buffer_over(out.data(), to, int32);
            REQUIRE(tessera_buffer_copy(nullptr, &src, &dst) == 0);
            CHECK(dst.flags == tessera_buffer_flag_host_dirty);
            for (int c = 0; c < to[2].extent; c++) {
                for (int y = 0; y < to[1].extent; y++) {
                    for (int x = 0; x < to[0].extent; x++) {
                        int there =
                            out[size_t(x * to[0].stride + y * to[1].stride + c * to[2].stride)];
                        CHECK(there ==
                              (x + to[0].min + 1) + (y + to[1].min) * 6 + (c + to[2].min) * 30);
                    }
                }
            }
        }
    }
    TEST_CASE("elements of any size are copied, and scalars") {
        for (uint8_t bits : {uint8_t(1), uint8_t(8), uint8_t(16), uint8_t(64)}) {
            Dims from{{0, 3, 2, 0}}, to{{0, 3, 1, 0}}, none;
            std::vector<uint64_t> in{1, 2, 3, 4, 5, 6, 7, 8}, out(8);
            tessera_buffer_t src = buffer_over(in.data(), from, {tessera_type_uint, bits, 1});
            tessera_buffer_t dst = buffer_over(out.data(), to, {tessera_type_uint, bits, 1});
            CHECK(tessera_buffer_copy(nullptr, &src, &dst) == 0);
            CHECK((bits < 64 || out[2] == 5));
            tessera_buffer_t s = buffer_over(&in[3], none, int32);
            tessera_buffer_t d = buffer_over(&out[0], none, int32);
            CHECK(tessera_buffer_copy(nullptr, &s, &d) == 0);
            CHECK(int32_t(out[0]) == 4);
        }
    }
    TEST_CASE("a copy that cannot be is refused") {
        Capture capture;
        std::vector<int> data(100);
        Dims small{{0, 4, 1, 0}}, large{{0, 5, 1, 0}}, plane{{0, 2, 1, 0}, {0, 2, 2, 0}};
        tessera_buffer_t src = buffer_over(data.data(), small, int32);
        tessera_buffer_t dst = buffer_over(data.data() + 50, large, int32);
        CHECK(tessera_buffer_copy(nullptr, &src, &dst) == tessera_error_code_access_out_of_bounds);
        CHECK(capture.has("touches [0, 4]"));
        tessera_buffer_t wrong_dims = buffer_over(data.data(), plane, int32);
        CHECK(tessera_buffer_copy(nullptr, &wrong_dims, &dst) == tessera_error_code_bad_dimensions);
        tessera_buffer_t wrong_type = buffer_over(data.data(), large, {tessera_type_float, 32, 1});
        CHECK(tessera_buffer_copy(nullptr, &wrong_type, &dst) == tessera_error_code_bad_type);
        CHECK(tessera_buffer_copy(nullptr, nullptr, &dst) ==
              tessera_error_code_buffer_argument_is_null);
        tessera_buffer_t no_memory = buffer_over(nullptr, large, int32);
        CHECK(tessera_buffer_copy(nullptr, &no_memory, &dst) == tessera_error_code_host_is_null);
    }
    TEST_CASE("what needs a device says that there is none; what does not, works") {
        Capture capture;
        int value = 0;
        Dims none;
        tessera_buffer_t b = buffer_over(&value, none, int32);
        CHECK(tessera_copy_to_host(nullptr, &b) == 0);
        CHECK(tessera_device_free(nullptr, &b) == 0);
        CHECK(tessera_device_sync(nullptr, &b) == 0);
        CHECK(tessera_device_malloc(nullptr, &b, nullptr) ==
              tessera_error_code_no_device_interface);
        CHECK(tessera_copy_to_device(nullptr, &b, nullptr) ==
              tessera_error_code_no_device_interface);
        b.device = 1;
        b.flags = tessera_buffer_flag_device_dirty;
        CHECK(tessera_copy_to_host(nullptr, &b) == tessera_error_code_no_device_interface);
        CHECK(tessera_device_free(nullptr, &b) == tessera_error_code_no_device_interface);
        CHECK(capture.has("No device interface"));
    }
}
