#include "cuda_fixture.h"
#include <utility>

namespace {

int crop(const Picture &of, Picture &part) {
    return tessera_device_crop(nullptr, &of.buffer, &part.buffer);
}
int slice(const Picture &of, int dim, int at, Picture &part) {
    return tessera_device_slice(nullptr, &of.buffer, dim, at, &part.buffer);
}
int release(Picture &part) { return tessera_device_release_crop(nullptr, &part.buffer); }

const Dims plane{{0, 10, 1, 0}, {0, 6, 10, 0}};

}  // namespace

TEST_SUITE("crops on a device") {
    TEST_CASE("a crop is an alias of a part") {
        FakeGpu gpu;
        Picture p(plane), part({{2, 3, 1, 0}, {4, 2, 10, 0}});
        CHECK(p.upload() == 0);
        CHECK(crop(p, part) == 0);
        CHECK(part.buffer.device == p.buffer.device + 42 * 4);
        CHECK(part.buffer.device_interface == gpu_interface());
        CHECK_FALSE(part.buffer.device_dirty());
        CHECK(gpu.bytes_of_buffers() == 240);
        CHECK(drain_gpu() == 0);
        part.put_on_device({3, 5}, 500);
        p.buffer.set_device_dirty();
        CHECK(tessera_copy_to_host(nullptr, &p.buffer) == 0);
        CHECK(p.at({3, 5}) == 500);
        CHECK(release(part) == 0);
        CHECK(part.buffer.device == 0);
        CHECK(release(part) == 0);  // of none: nothing
        CHECK(p.free() == 0);
    }
    TEST_CASE("the newest contents are where those of the whole are, and then each one's own") {
        FakeGpu gpu;
        Picture p(plane), part({{2, 3, 1, 0}, {4, 2, 10, 0}});
        CHECK(p.upload() == 0);
        p.buffer.set_device_dirty();
        CHECK(crop(p, part) == 0);
        CHECK(part.buffer.device_dirty());
        CHECK(tessera_copy_to_host(nullptr, &part.buffer) == 0);
        CHECK(p.buffer.device_dirty());
        p.buffer.set_device_dirty(false);
        CHECK(release(part) == 0);
        CHECK(part.buffer.flags == 0);
        CHECK(p.free() == 0);
    }
    TEST_CASE("a part that begins at an element has what the whole has") {
        FakeGpu gpu;
        Picture p(plane), part({{0, 3, 1, 0}, {7, 2, 10, 0}});
        const auto share = [&] {
            return tessera_device_part(nullptr, &p.buffer, 42, &part.buffer);
        };
        p.buffer.set_host_dirty();
        CHECK(share() == 0);
        CHECK(part.buffer.device == 0);
        CHECK(part.buffer.host_dirty());
        CHECK(part.buffer.host != nullptr);
        CHECK(p.upload() == 0);
        p.buffer.set_device_dirty();
        uint8_t *host = std::exchange(p.buffer.host, nullptr);
        CHECK(share() == 0);
        CHECK(part.buffer.device == p.buffer.device + 42 * 4);
        CHECK(part.buffer.device_dirty());
        CHECK_FALSE(part.buffer.host_dirty());
        CHECK(part.buffer.host == nullptr);
        CHECK(release(part) == 0);
        p.buffer.host = host;
        CHECK(p.free() == 0);
        CHECK(gpu.bytes_of_buffers() == 0);
    }
    TEST_CASE("a copy of a crop moves what belongs to it, and nothing between its rows") {
        FakeGpu gpu;
        Picture p(plane), part({{2, 3, 1, 0}, {4, 2, 10, 0}});
        CHECK(p.upload() == 0);
        CHECK(drain_gpu() == 0);
        CHECK(crop(p, part) == 0);
        for (int &v : part.memory) v = -7;
        part.buffer.set_host_dirty();
        CHECK(tessera_copy_to_device(nullptr, &part.buffer, nullptr) == 0);
        CHECK(drain_gpu() == 0);
        for (int y = 0; y < 6; y++) {
            for (int x = 0; x < 10; x++) {
                const bool inside = x >= 2 && x < 5 && y >= 4;
                CHECK(p.on_device({x, y}) == (inside ? -7 : x + 10 * y));
            }
        }
        for (int &v : part.memory) v = -1;
        CHECK(part.download() == 0);
        for (int i = 0; i < int(part.memory.size()); i++) {
            CHECK(part.memory[size_t(i)] == (i % 10 < 3 ? -7 : -1));
        }
        CHECK(release(part) == 0);
        CHECK(p.free() == 0);
    }
    TEST_CASE("a crop of a crop, whose parents are gone first") {
        FakeGpu gpu;
        Picture p(plane), part({{2, 6, 1, 0}, {1, 4, 10, 0}}), inner({{4, 2, 1, 0}, {3, 1, 10, 0}});
        CHECK(p.upload() == 0);
        CHECK(crop(p, part) == 0);
        CHECK(crop(part, inner) == 0);
        CHECK(inner.buffer.device == p.buffer.device + 34 * 4);
        CHECK(p.free() == 0);
        CHECK(gpu.bytes_of_buffers() == 240);
        CHECK(release(part) == 0);
        CHECK(gpu.bytes_of_buffers() == 240);
        CHECK(inner.download() == 0);
        CHECK(inner.at({5, 3}) == 35);
        CHECK(release(inner) == 0);
        CHECK(gpu.bytes_of_buffers() == 0);
    }
    TEST_CASE("a crop at the origin has the address of the whole") {
        FakeGpu gpu;
        Picture p(plane), a(plane), b({{0, 2, 1, 0}, {0, 2, 10, 0}});
        CHECK(p.upload() == 0);
        CHECK(crop(p, a) == 0);
        CHECK(crop(p, b) == 0);
        CHECK(release(a) == 0);
        CHECK(p.free() == 0);
        CHECK(b.download() == 0);
        CHECK(release(b) == 0);
        CHECK(gpu.bytes_of_buffers() == 0);
    }
    TEST_CASE("what is no alias any more, or never was, releases nothing") {
        FakeGpu gpu;
        Picture p(plane), a(plane), b(plane);
        CHECK(p.upload() == 0);
        CHECK(crop(p, a) == 0);
        CHECK(release(a) == 0);
        CHECK(tessera_device_wrap_native(nullptr, &b.buffer, p.buffer.device, gpu_interface()) ==
              0);
        CHECK(release(b) == 0);
        CHECK(gpu.bytes_of_buffers() == 240);
        CHECK(p.free() == 0);
    }
    TEST_CASE("a crop keeps the direction of strides") {
        FakeGpu gpu;
        Picture p({{0, 10, -1, 0}, {0, 6, 10, 0}}), part({{2, 3, -1, 0}, {4, 2, 10, 0}});
        CHECK(p.upload() == 0);
        CHECK(drain_gpu() == 0);
        CHECK(p.on_device({0, 0}) == 9);
        CHECK(crop(p, part) == 0);
        CHECK(part.on_device({2, 4}) == p.at({2, 4}));
        CHECK(part.download() == 0);
        CHECK(part.at({4, 5}) == p.at({4, 5}));
        CHECK(release(part) == 0);
        CHECK(p.free() == 0);
    }
    TEST_CASE("an empty crop is one, too") {
        FakeGpu gpu;
        Picture p(plane), part({{30, 0, 1, 0}, {4, 2, 10, 0}}, 1);
        CHECK(p.upload() == 0);
        CHECK(crop(p, part) == 0);
        CHECK(part.buffer.device != 0);
        CHECK(part.upload() == 0);
        CHECK(p.free() == 0);
        CHECK(release(part) == 0);
        CHECK(gpu.bytes_of_buffers() == 0);
    }
    TEST_CASE("a slice has one dimension less") {
        FakeGpu gpu;
        Picture p(plane), row({{1, 8, 1, 0}}), column({{2, 4, 10, 0}}), element({}, 1);
        CHECK(p.upload() == 0);
        CHECK(slice(p, 1, 3, row) == 0);
        CHECK(drain_gpu() == 0);
        CHECK(row.download() == 0);
        CHECK(row.at({1}) == 31);
        CHECK(slice(p, 0, 7, column) == 0);
        CHECK(column.download() == 0);
        CHECK(column.at({5}) == 57);
        CHECK(slice(row, 0, 4, element) == 0);
        CHECK(p.free() == 0);
        CHECK(release(row) == 0);
        CHECK(element.download() == 0);
        CHECK(element.memory[0] == 34);
        CHECK(release(element) == 0);
        CHECK(release(column) == 0);
    }
    TEST_CASE("what is no part is refused; where there is no device there is nothing to do") {
        FakeGpu gpu;
        Picture p(plane), left({{-1, 3, 1, 0}, {0, 2, 10, 0}}), high({{0, 3, 1, 0}, {5, 2, 10, 0}});
        Picture dense({{0, 3, 1, 0}, {0, 2, 3, 0}}), row({{0, 10, 1, 0}}), part(plane);
        CHECK(crop(p, part) == 0);
        CHECK(slice(p, 1, 3, row) == 0);
        CHECK(part.buffer.device == 0);
        CHECK(p.upload() == 0);
        for (Picture *other : {&left, &high, &dense, &row}) {
            CHECK(crop(p, *other) == tessera_error_code_device_crop_failed);
            CHECK(other->buffer.device == 0);
        }
        CHECK(slice(p, 1, 6, row) == tessera_error_code_device_crop_failed);
        CHECK(slice(p, 2, 0, row) == tessera_error_code_device_crop_failed);
        CHECK(slice(p, 0, 0, part) == tessera_error_code_device_crop_failed);
        part.buffer.type.bits = 16;
        CHECK(crop(p, part) == tessera_error_code_device_crop_failed);
        CHECK(gpu.capture.has("the types do not agree"));
        part.buffer.type.bits = 32;
        CHECK(part.upload() == 0);
        CHECK(crop(p, part) == tessera_error_code_device_crop_failed);
        CHECK(gpu.capture.has("the crop has memory on a device already"));
        CHECK(part.free() == 0);
        CHECK(p.free() == 0);
    }
    TEST_CASE("a crop of foreign memory") {
        FakeGpu gpu;
        Picture p(plane), part({{2, 3, 1, 0}, {4, 2, 10, 0}});
        const uint64_t foreign = uint64_t(1) << 50;
        CHECK(tessera_device_wrap_native(nullptr, &p.buffer, foreign, gpu_interface()) == 0);
        CHECK(crop(p, part) == 0);
        CHECK(part.buffer.device == foreign + 42 * 4);
        CHECK(release(part) == 0);
        CHECK(tessera_device_detach_native(nullptr, &p.buffer) == 0);
    }
}
