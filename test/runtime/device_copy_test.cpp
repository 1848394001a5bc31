#include "cuda_fixture.h"

namespace {

using Interface = const tessera_device_interface_t *;

int copy(Picture &src, Interface to, Picture &dst) {
    return tessera_device_buffer_copy(nullptr, &src.buffer, to, &dst.buffer);
}

bool has(const Picture &p, const std::vector<int> &site) {
    for (size_t d = 0; d < site.size(); d++) {
        if (site[d] < p.dims[d].min || site[d] >= p.dims[d].min + p.dims[d].extent) return false;
    }
    return true;
}

template<typename F> void each_site(const Picture &p, F f) {
    for (int y = p.dims[1].min; y < p.dims[1].min + p.dims[1].extent; y++) {
        for (int x = p.dims[0].min; x < p.dims[0].min + p.dims[0].extent; x++) f({x, y});
    }
}

// Each element, wherever it is: 1000 y + x, plus something.
void fill(Picture &p, int plus) {
    for (int &v : p.memory) v = -1;
    each_site(p, [&](std::vector<int> s) { p.at(s) = 1000 * s[1] + s[0] + plus; });
}

// Of a dst that was filled with `plus` and then had src copied into it.
void check_copied(const Picture &src, Picture &dst, int plus) {
    size_t wrong = 0;
    each_site(dst, [&](std::vector<int> s) {
        const int value = 1000 * s[1] + s[0];
        wrong += dst.at(s) != (has(src, s) ? value : value + plus);
    });
    CHECK(wrong == 0);
}

// Whole rows, part of the rows, partly overlapping, one in the other, transposed, turned round,
// padded.
const std::vector<Dims> shapes{
    {{0, 40, 1, 0}, {0, 30, 40, 0}},   {{5, 20, 1, 0}, {3, 10, 20, 0}},
    {{-7, 30, 1, 0}, {-2, 20, 33, 0}}, {{30, 30, 1, 0}, {20, 30, 30, 0}},
    {{2, 30, 25, 0}, {1, 25, 1, 0}},   {{0, 40, -1, 0}, {0, 30, 40, 0}},
    {{0, 40, 1, 0}, {0, 30, -40, 0}},  {{-4, 40, 3, 0}, {0, 30, 123, 0}},
    {{0, 40, 1, 0}, {0, 30, 44, 0}},   {{7, 1, 1, 0}, {0, 30, 1, 0}},
    {{100, 5, 1, 0}, {100, 5, 5, 0}},
};

}  // namespace

TEST_SUITE("copies between buffers") {
    TEST_CASE("what both have is copied in all four ways, whatever their layouts") {
        FakeGpu gpu;
        for (const Dims &from : shapes) {
            for (const Dims &to : shapes) {
                for (int way = 0; way < 4; way++) {
                    CAPTURE(way);
                    Picture src(from), dst(to);
                    fill(src, 0);
                    fill(dst, 500);
                    const bool from_device = way & 1, to_device = way & 2;
                    if (from_device) {
                        CHECK(src.upload() == 0);
                        src.buffer.set_device_dirty();
                        CHECK(drain_gpu() == 0);
                        for (int &v : src.memory) v = -2;
                    }
                    REQUIRE(copy(src, to_device ? gpu_interface() : nullptr, dst) == 0);
                    if (to_device && dst.buffer.device) {
                        CHECK_FALSE(dst.buffer.host_dirty());
                        CHECK(drain_gpu() == 0);
                        for (int &v : dst.memory) v = -3;
                        CHECK(tessera_copy_to_host(nullptr, &dst.buffer) == 0);
                    }
                    check_copied(src, dst, 500);
                    CHECK(src.free() == 0);
                    CHECK(dst.free() == 0);
                }
            }
        }
    }
    TEST_CASE("the bytes between the rows of dst stay as they are") {
        FakeGpu gpu;
        Picture src({{0, 4, 1, 0}, {0, 3, 4, 0}}), dst({{0, 4, 1, 0}, {0, 3, 6, 0}});
        CHECK(src.upload() == 0);
        src.buffer.set_device_dirty();
        for (int &v : dst.memory) v = -1;
        CHECK(copy(src, nullptr, dst) == 0);
        CHECK(dst.memory == std::vector<int>{0, 1, 2, 3, -1, -1, 4, 5, 6, 7, -1, -1, 8, 9, 10, 11});
        CHECK(dst.buffer.flags == tessera_buffer_flag_host_dirty);
        CHECK(src.free() == 0);
    }
    TEST_CASE("padded rows go to the device and back without what is between") {
        FakeGpu gpu;
        Picture p({{0, 4, 1, 0}, {0, 3, 6, 0}});
        CHECK(p.upload() == 0);
        CHECK(drain_gpu() == 0);
        CHECK(p.on_device({3, 1}) == 9);
        const auto *memory = static_cast<const int *>(gpu->memory(p.buffer.device));
        CHECK(memory[4] == int(0xcdcdcdcd));
        CHECK(gpu->calls("cuMemcpy2DAsync_v2") == 1);
        for (int &v : p.memory) v = -1;
        CHECK(p.download() == 0);
        CHECK(p.memory == std::vector<int>{0, 1, 2, 3, -1, -1, 6, 7, 8, 9, -1, -1, 12, 13, 14, 15});
        CHECK(p.free() == 0);
    }
    TEST_CASE("dense data goes in one call, whatever the order of its dimensions") {
        FakeGpu gpu;
        int calls = 0;
        for (const Dims &shape : {Dims{{0, 10, 1, 0}, {0, 6, 10, 0}, {0, 4, 60, 0}},
                                  Dims{{3, 10, 24, 0}, {0, 6, 4, 0}, {-2, 4, 1, 0}},
                                  Dims{{0, 10, 1, 0}, {0, 1, 999, 0}, {0, 4, 10, 0}},
                                  Dims{{0, 10, -1, 0}, {0, 6, 10, 0}, {0, 4, 60, 0}},
                                  Dims{{0, 10, 1, 0}, {0, 6, -10, 0}, {0, 4, -60, 0}}}) {
            Picture p(shape);
            const std::vector<int> before = p.memory;
            CHECK(p.upload() == 0);
            CHECK(gpu->calls("cuMemcpyHtoDAsync_v2") == ++calls);
            for (int &v : p.memory) v = -1;
            CHECK(p.download() == 0);
            CHECK(gpu->calls("cuMemcpyDtoHAsync_v2") == calls);
            if (shape[1].extent > 1) CHECK(p.memory == before);
            CHECK(p.free() == 0);
        }
        CHECK(gpu->calls("cuMemcpy2DAsync_v2") == 0);
    }
    TEST_CASE("between layouts that differ, elements are put in order on the host") {
        FakeGpu gpu;
        Picture planar({{0, 50, 1, 0}, {0, 40, 50, 0}, {0, 3, 2000, 0}});
        Picture interleaved({{0, 50, 3, 0}, {0, 40, 150, 0}, {0, 3, 1, 0}});
        CHECK(copy(planar, gpu_interface(), interleaved) == 0);
        CHECK(gpu->calls("cuMemcpyHtoDAsync_v2") == 1);
        CHECK(drain_gpu() == 0);
        CHECK(interleaved.on_device({7, 11, 2}) == planar.at({7, 11, 2}));
        for (int &v : planar.memory) v = 0;
        CHECK(copy(interleaved, nullptr, planar) == 0);
        CHECK(gpu->calls("cuMemcpyDtoHAsync_v2") == 1);
        CHECK(planar.at({7, 11, 2}) == 7 + 11 * 50 + 2 * 2000);
        Picture turned({{0, 50, -3, 0}, {0, 40, 150, 0}, {0, 3, -1, 0}});
        CHECK(copy(planar, gpu_interface(), turned) == 0);
        CHECK(gpu->calls("cuMemcpyHtoDAsync_v2") == 2);
        CHECK(drain_gpu() == 0);
        CHECK(turned.on_device({7, 11, 2}) == planar.at({7, 11, 2}));
        CHECK(gpu->calls("cuMemcpy2DAsync_v2") == 0);
        CHECK(interleaved.free() == 0);
        CHECK(turned.free() == 0);
    }
    TEST_CASE("large copies go by pinned pieces, padded or not, and come back the same") {
        FakeGpu gpu;
        for (const Dims &shape :
             {Dims{{0, 3000000, 1, 0}}, Dims{{0, 1000, 1, 0}, {0, 3000, 1001, 0}},
              Dims{{0, 2000000, 1, 0}, {0, 2, 2000001, 0}},
              Dims{{0, 30, 1, 0}, {0, 50, 31, 0}, {0, 700, 1600, 0}}}) {
            Picture p(shape);
            CHECK(p.upload() == 0);
            // The memory may be changed as soon as the function has returned.
            const std::vector<int> before = p.memory;
            for (int &v : p.memory) v = -1;
            CHECK(p.download() == 0);
            size_t wrong = 0;
            tessera_buffer_t b = p.buffer;
            std::vector<int> expected(before.size(), -1);
            b.host = reinterpret_cast<uint8_t *>(expected.data());
            tessera_buffer_t a = p.buffer;
            a.host = reinterpret_cast<uint8_t *>(const_cast<int *>(before.data()));
            a.device = b.device = 0;
            a.device_interface = b.device_interface = nullptr;
            CHECK(tessera_buffer_copy(nullptr, &a, &b) == 0);
            for (size_t i = 0; i < expected.size(); i++) wrong += expected[i] != p.memory[i];
            CHECK(wrong == 0);
            CHECK(p.free() == 0);
        }
        CHECK(gpu->pinned_blocks() == 2);
    }
    TEST_CASE("copies of pinned memory go directly, and are done with it when they return") {
        FakeGpu gpu;
        Picture p({{0, 200000, 1, 0}});
        CHECK(p.upload() == 0);
        auto *pinned = static_cast<int *>(gpu->pinned(800000));
        for (int i = 0; i < 200000; i++) pinned[i] = 3 * i;
        p.buffer.host = reinterpret_cast<uint8_t *>(pinned);
        const int pieces = gpu->calls("cuMemcpyHtoDAsync_v2");
        CHECK(p.upload() == 0);
        CHECK(gpu->calls("cuMemcpyHtoDAsync_v2") == pieces + 1);
        for (int i = 0; i < 200000; i++) pinned[i] = 0;
        CHECK(p.download() == 0);
        CHECK(pinned[199999] == 3 * 199999);
        CHECK(p.free() == 0);
    }
    TEST_CASE("without pinned memory the driver copies by itself") {
        FakeGpu gpu;
        Picture p({{0, 200000, 1, 0}});
        gpu->fail("cuMemAllocHost_v2", 2, 2);
        CHECK(p.upload() == 0);
        CHECK(gpu->pinned_blocks() == 0);
        const std::vector<int> before = p.memory;
        for (int &v : p.memory) v = -1;
        CHECK(p.download() == 0);
        CHECK(p.memory == before);
        CHECK(p.free() == 0);
    }
    TEST_CASE("a failed copy leaves the flags as they are, and the next one works") {
        FakeGpu gpu;
        Picture p({{0, 3000000, 1, 0}}), q({{0, 8, 1, 0}});
        CHECK(p.upload() == 0);
        for (int nth : {1, 2, 3}) {
            gpu->fail("cuMemcpyHtoDAsync_v2", nth, 1);
            CHECK(p.upload() == tessera_error_code_copy_to_device_failed);
            CHECK(p.buffer.host_dirty());
            p.buffer.flags = 0;
            gpu->fail("cuMemcpyDtoHAsync_v2", nth, 1);
            CHECK(p.download() == tessera_error_code_copy_to_host_failed);
            CHECK(p.buffer.device_dirty());
            p.buffer.flags = 0;
        }
        CHECK(
            gpu.capture.has("copying 12000000 bytes to the GPU failed: CUDA_ERROR_INVALID_VALUE"));
        CHECK(gpu.capture.has("copying 12000000 bytes from the GPU failed"));
        CHECK(p.upload() == 0);
        CHECK(p.memory[2999999] == 2999999);
        p.memory[2999999] = 0;
        CHECK(p.download() == 0);
        CHECK(p.memory[2999999] == 2999999);
        CHECK(q.upload() == 0);
        Picture r({{0, 8, 1, 0}});
        gpu->fail("cuMemcpyDtoDAsync_v2", 1, 1);
        CHECK(copy(q, gpu_interface(), r) == tessera_error_code_device_buffer_copy_failed);
        CHECK_FALSE(r.buffer.device_dirty());
        for (Picture *each : {&p, &q, &r}) CHECK(each->free() == 0);
    }
    TEST_CASE("what a failed copy has begun does not come in the way of the next") {
        FakeGpu gpu;
        Picture parts({{0, 30, 1, 0}, {0, 50, 31, 0}, {0, 700, 1600, 0}});
        Picture next({{0, 100000, 1, 0}});
        CHECK(parts.upload() == 0);
        gpu->fail("cuMemcpy2DAsync_v2", 2, 1);
        CHECK(parts.download() == tessera_error_code_copy_to_host_failed);
        for (int &v : next.memory) v += 7;
        CHECK(next.upload() == 0);
        CHECK(drain_gpu() == 0);
        CHECK(next.on_device({0}) == 7);
        CHECK(next.free() == 0);
        CHECK(parts.free() == 0);
    }
    TEST_CASE("what is not overwritten keeps its newest value, on either side") {
        FakeGpu gpu;
        Picture src({{2, 3, 1, 0}}), dst({{0, 8, 1, 0}});
        for (int &v : src.memory) v = 100;
        dst.buffer.set_host_dirty();
        CHECK(copy(src, gpu_interface(), dst) == 0);
        CHECK(dst.buffer.flags == tessera_buffer_flag_device_dirty);
        CHECK(drain_gpu() == 0);
        CHECK(dst.on_device({1}) == 1);
        CHECK(dst.on_device({2}) == 100);
        dst.put_on_device({7}, 70);
        CHECK(copy(src, nullptr, dst) == 0);
        CHECK(dst.buffer.flags == tessera_buffer_flag_host_dirty);
        CHECK(dst.memory == std::vector<int>{0, 1, 100, 100, 100, 5, 6, 70});
        CHECK(dst.free() == 0);
    }
    TEST_CASE("of one and the same buffer: to where it shall be") {
        FakeGpu gpu;
        Picture p({{0, 8, 1, 0}});
        p.buffer.set_host_dirty();
        CHECK(copy(p, gpu_interface(), p) == 0);
        CHECK(p.buffer.flags == 0);
        CHECK(drain_gpu() == 0);
        p.put_on_device({3}, 33);
        p.buffer.set_device_dirty();
        CHECK(copy(p, nullptr, p) == 0);
        CHECK(p.memory[3] == 33);
        CHECK(p.free() == 0);
    }
    TEST_CASE("buffers without memory on the host, and without any") {
        FakeGpu gpu;
        Picture a({{0, 8, 1, 0}}), b({{0, 8, 1, 0}}), none({{0, 8, 1, 0}});
        CHECK(a.upload() == 0);
        a.buffer.host = b.buffer.host = none.buffer.host = nullptr;
        CHECK(copy(a, gpu_interface(), b) == 0);  // device to device
        CHECK(drain_gpu() == 0);
        CHECK(b.on_device({5}) == 5);
        CHECK(copy(b, nullptr, none) == tessera_error_code_host_is_null);
        CHECK(copy(none, nullptr, b) == tessera_error_code_host_is_null);
        CHECK(copy(none, gpu_interface(), b) == tessera_error_code_host_is_null);
        Picture out({{0, 8, 1, 0}});
        out.memory[5] = -1;
        CHECK(copy(b, nullptr, out) == 0);  // not dirty, but the only place
        CHECK(out.memory[5] == 5);
        out.memory[5] = -1;
        CHECK(tessera_buffer_copy(nullptr, &b.buffer, &out.buffer) == 0);
        CHECK(out.memory[5] == 5);
        CHECK(a.free() == 0);
        CHECK(b.free() == 0);
    }
    TEST_CASE("a copy on the host takes the newest contents of src, and makes dst's the newest") {
        FakeGpu gpu;
        Picture a({{0, 8, 1, 0}}), b({{0, 8, 1, 0}});
        CHECK(a.upload() == 0);
        CHECK(b.upload() == 0);
        CHECK(drain_gpu() == 0);
        a.put_on_device({5}, 55);
        a.buffer.set_device_dirty();
        b.buffer.set_device_dirty();
        CHECK(tessera_buffer_copy(nullptr, &a.buffer, &b.buffer) == 0);
        CHECK(b.memory[5] == 55);
        CHECK(b.buffer.flags == tessera_buffer_flag_host_dirty);
        CHECK(a.free() == 0);
        CHECK(b.free() == 0);
    }
    TEST_CASE("between devices of two kinds: by way of the host") {
        FakeGpu gpu;
        const tessera_device_interface_t other = *gpu_interface();
        Picture a({{0, 8, 1, 0}}), b({{0, 8, 1, 0}});
        CHECK(a.upload() == 0);
        CHECK(drain_gpu() == 0);
        a.put_on_device({5}, 55);
        a.buffer.set_device_dirty();
        CHECK(copy(a, &other, b) == 0);
        CHECK(a.memory[5] == 55);
        CHECK(b.buffer.device_interface == &other);
        CHECK(b.buffer.device_dirty());
        CHECK(b.free() == 0);
        a.buffer.host = nullptr;
        b.memory[5] = 0;
        CHECK(copy(a, &other, b) == 0);
        CHECK(b.memory[5] == 55);
        CHECK(b.free() == 0);
        b.buffer.host = nullptr;
        CHECK(copy(a, &other, b) == tessera_error_code_incompatible_device_interface);
        CHECK(a.free() == 0);
    }
    TEST_CASE("what does not fit together is refused") {
        FakeGpu gpu;
        Picture a({{0, 8, 1, 0}}), plane({{0, 8, 1, 0}, {0, 1, 8, 0}}), bytes({{0, 8, 1, 0}});
        bytes.buffer.type.bits = 8;
        CHECK(copy(a, gpu_interface(), plane) == tessera_error_code_bad_dimensions);
        CHECK(copy(a, gpu_interface(), bytes) == tessera_error_code_bad_type);
        CHECK(bytes.buffer.device == 0);
    }
}
