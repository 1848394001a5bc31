#include "cuda_fixture.h"

namespace {

const Dims row{{0, 8, 1, 0}};

}  // namespace

TEST_SUITE("buffers on a device") {
    TEST_CASE("memory is allocated once, and given back") {
        FakeGpu gpu;
        Picture p({{0, 100, 1, 0}});
        CHECK(tessera_device_malloc(nullptr, &p.buffer, gpu_interface()) == 0);
        CHECK(p.buffer.device_interface == gpu_interface());
        CHECK(gpu.bytes_of_buffers() == 400);
        const uint64_t device = p.buffer.device;
        CHECK(tessera_device_malloc(nullptr, &p.buffer, gpu_interface()) == 0);
        CHECK(p.buffer.device == device);
        CHECK(p.buffer.flags == 0);
        p.buffer.set_device_dirty();
        CHECK(p.free() == 0);
        CHECK(p.buffer.device == 0);
        CHECK(p.buffer.device_interface == nullptr);
        CHECK(p.buffer.flags == 0);
        CHECK(gpu.bytes_of_buffers() == 0);
        CHECK(p.free() == 0);  // on no device: nothing
    }
    TEST_CASE("a buffer of no elements, and one of no dimensions, can be on a device") {
        FakeGpu gpu;
        Picture none({{0, 0, 1, 0}, {0, 5, 0, 0}}, 1), scalar({}, 1);
        CHECK(none.upload() == 0);
        CHECK(none.buffer.device != 0);
        CHECK(none.download() == 0);
        scalar.memory[0] = 17;
        CHECK(scalar.upload() == 0);
        CHECK(drain_gpu() == 0);
        CHECK(scalar.on_device({}) == 17);
        scalar.memory[0] = 0;
        CHECK(scalar.download() == 0);
        CHECK(scalar.memory[0] == 17);
        CHECK(none.free() == 0);
        CHECK(scalar.free() == 0);
    }
    TEST_CASE("only what is dirty is copied, and is clean after") {
        FakeGpu gpu;
        Picture p(row);
        CHECK(tessera_copy_to_device(nullptr, &p.buffer, gpu_interface()) == 0);
        CHECK(p.buffer.device != 0);  // allocated, though there was nothing to copy
        CHECK(gpu->calls("cuMemcpyHtoDAsync_v2") == 0);
        p.buffer.set_host_dirty();
        CHECK(tessera_copy_to_device(nullptr, &p.buffer, nullptr) == 0);  // where it is
        CHECK(tessera_copy_to_device(nullptr, &p.buffer, nullptr) == 0);
        CHECK(gpu->calls("cuMemcpyHtoDAsync_v2") == 1);
        CHECK(p.buffer.flags == 0);
        CHECK(tessera_copy_to_host(nullptr, &p.buffer) == 0);
        CHECK(gpu->calls("cuMemcpyDtoHAsync_v2") == 0);
        CHECK(tessera_device_sync(nullptr, &p.buffer) == 0);
        p.put_on_device({3}, 77);
        CHECK(p.memory[3] == 3);
        p.buffer.set_device_dirty();
        CHECK(tessera_copy_to_host(nullptr, &p.buffer) == 0);
        CHECK(p.memory[3] == 77);
        CHECK(p.buffer.flags == 0);
        CHECK(p.buffer.device != 0);  // it stays there
        CHECK(p.free() == 0);
    }
    TEST_CASE("what cannot be true of a buffer is refused by every function") {
        FakeGpu gpu;
        Picture p(row);
        tessera_buffer_t &b = p.buffer;
        auto all = [&](tessera_buffer_t *buffer, int wanted) {
            CHECK(tessera_device_malloc(nullptr, buffer, gpu_interface()) == wanted);
            CHECK(tessera_device_sync(nullptr, buffer) == wanted);
            CHECK(tessera_copy_to_host(nullptr, buffer) == wanted);
            CHECK(tessera_copy_to_device(nullptr, buffer, gpu_interface()) == wanted);
            CHECK(tessera_device_and_host_malloc(nullptr, buffer, gpu_interface()) == wanted);
            Picture other(row);
            CHECK(tessera_device_buffer_copy(nullptr, buffer, nullptr, &other.buffer) == wanted);
            CHECK(tessera_device_buffer_copy(nullptr, &other.buffer, nullptr, buffer) == wanted);
            CHECK(tessera_device_crop(nullptr, buffer, &other.buffer) == wanted);
            CHECK(tessera_device_slice(nullptr, buffer, 0, 0, &other.buffer) == wanted);
            CHECK(tessera_device_part(nullptr, buffer, 0, &other.buffer) == wanted);
            CHECK(tessera_device_release_crop(nullptr, buffer) == wanted);
            CHECK(tessera_device_wrap_native(nullptr, buffer, 1, gpu_interface()) == wanted);
            CHECK(tessera_device_detach_native(nullptr, buffer) == wanted);
        };
        all(nullptr, tessera_error_code_buffer_is_null);
        CHECK(gpu.capture.has("tessera_device_malloc was given a null pointer"));
        CHECK(tessera_device_free(nullptr, nullptr) == tessera_error_code_buffer_is_null);
        CHECK(tessera_device_and_host_free(nullptr, nullptr) == tessera_error_code_buffer_is_null);
        b.flags = tessera_buffer_flag_host_dirty | tessera_buffer_flag_device_dirty;
        all(&b, tessera_error_code_host_and_device_dirty);
        b.flags = 0;
        b.device = 5;
        all(&b, tessera_error_code_no_device_interface);
        b.device = 0;
        b.device_interface = gpu_interface();
        all(&b, tessera_error_code_device_interface_no_device);
        b.device_interface = nullptr;
    }
    TEST_CASE("memory of another kind of device is not mixed up with this one's") {
        FakeGpu gpu;
        const tessera_device_interface_t other = *gpu_interface();
        Picture p(row);
        CHECK(p.upload() == 0);
        CHECK(tessera_device_malloc(nullptr, &p.buffer, &other) ==
              tessera_error_code_incompatible_device_interface);
        CHECK(tessera_copy_to_device(nullptr, &p.buffer, &other) ==
              tessera_error_code_incompatible_device_interface);
        CHECK(gpu.capture.has("is on a device of another kind"));
        CHECK(tessera_device_malloc(nullptr, &p.buffer, nullptr) ==
              tessera_error_code_no_device_interface);
        CHECK(tessera_device_sync_global(nullptr, nullptr) ==
              tessera_error_code_no_device_interface);
        tessera_device_release(nullptr, nullptr);
        CHECK(p.free() == 0);
    }
    TEST_CASE("a copy wants memory on the host") {
        FakeGpu gpu;
        Picture p(row);
        CHECK(p.upload() == 0);
        p.buffer.host = nullptr;
        CHECK(p.download() == tessera_error_code_host_is_null);
        CHECK(p.buffer.device_dirty());
        p.buffer.flags = tessera_buffer_flag_host_dirty;
        CHECK(tessera_copy_to_device(nullptr, &p.buffer, nullptr) ==
              tessera_error_code_host_is_null);
        CHECK(p.free() == 0);
    }
    TEST_CASE("both sides are allocated and freed together, or neither") {
        FakeGpu gpu;
        Picture p({{0, 8, -1, 0}});
        p.buffer.host = nullptr;
        CHECK(tessera_device_and_host_malloc(nullptr, &p.buffer, gpu_interface()) == 0);
        REQUIRE(p.buffer.host);
        for (int x = 0; x < 8; x++) p.at({x}) = 10 * x;
        CHECK(p.upload() == 0);
        CHECK(drain_gpu() == 0);
        CHECK(p.on_device({7}) == 70);
        CHECK(tessera_device_and_host_free(nullptr, &p.buffer) == 0);
        CHECK(p.buffer.host == nullptr);
        CHECK(gpu.bytes_of_buffers() == 0);

        gpu->fail("cuMemAllocFromPoolAsync", 1, 1);
        CHECK(tessera_device_and_host_malloc(nullptr, &p.buffer, gpu_interface()) ==
              tessera_error_code_device_malloc_failed);
        CHECK(p.buffer.host == nullptr);
        CHECK(p.buffer.device == 0);
    }
    TEST_CASE("memory that was not allocated for a buffer is not freed") {
        FakeGpu gpu;
        Picture p(row), copy(row);
        CHECK(p.upload() == 0);
        CHECK(tessera_cuda_wrap_device_ptr(nullptr, &copy.buffer, p.buffer.device + 4) == 0);
        CHECK(copy.free() == tessera_error_code_device_free_failed);
        CHECK(gpu.capture.has("what was wrapped is to be detached"));
        copy.buffer.device = p.buffer.device;
        copy.buffer.device_interface = gpu_interface();
        CHECK(p.free() == 0);
        CHECK(copy.free() == tessera_error_code_device_free_failed);  // twice
        CHECK(gpu.capture.has("has been freed already"));
    }
    TEST_CASE("foreign memory is wrapped, used, and left as it is") {
        FakeGpu gpu;
        Picture owner(row), p(row);
        CHECK(owner.upload() == 0);
        p.buffer.set_host_dirty();
        CHECK(tessera_device_wrap_native(nullptr, &p.buffer, owner.buffer.device,
                                         gpu_interface()) == 0);
        CHECK(p.buffer.host_dirty());  // flags stay
        CHECK(tessera_cuda_get_device_ptr(nullptr, &p.buffer) == owner.buffer.device);
        CHECK(tessera_cuda_get_device_ptr(nullptr, nullptr) == 0);
        CHECK(tessera_device_wrap_native(nullptr, &p.buffer, 5, gpu_interface()) ==
              tessera_error_code_device_wrap_native_failed);
        p.memory[2] = 22;
        CHECK(tessera_copy_to_device(nullptr, &p.buffer, nullptr) == 0);
        CHECK(drain_gpu() == 0);
        CHECK(owner.on_device({2}) == 22);
        p.buffer.set_device_dirty();
        CHECK(tessera_cuda_detach_device_ptr(nullptr, &p.buffer) == 0);
        CHECK(p.buffer.device == 0);
        CHECK(p.buffer.device_dirty());
        p.buffer.flags = 0;
        CHECK(tessera_cuda_get_device_ptr(nullptr, &p.buffer) == 0);
        CHECK(tessera_device_wrap_native(nullptr, &p.buffer, 0, gpu_interface()) ==
              tessera_error_code_device_wrap_native_failed);
        CHECK(tessera_device_wrap_native(nullptr, &p.buffer, 5, nullptr) ==
              tessera_error_code_no_device_interface);
        CHECK(owner.free() == 0);
    }
    TEST_CASE("the interface has each function in its place") {
        const tessera_device_interface_t &i = *gpu_interface();
        CHECK((i.device_malloc == tessera_device_malloc));
        CHECK((i.device_free == tessera_device_free));
        CHECK((i.device_sync == tessera_device_sync));
        CHECK((i.device_release == tessera_device_release));
        CHECK((i.copy_to_host == tessera_copy_to_host));
        CHECK((i.copy_to_device == tessera_copy_to_device));
        CHECK((i.device_and_host_malloc == tessera_device_and_host_malloc));
        CHECK((i.device_and_host_free == tessera_device_and_host_free));
        CHECK((i.buffer_copy == tessera_device_buffer_copy));
        CHECK((i.device_crop == tessera_device_crop));
        CHECK((i.device_slice == tessera_device_slice));
        CHECK((i.device_release_crop == tessera_device_release_crop));
        CHECK((i.wrap_native == tessera_device_wrap_native));
        CHECK((i.detach_native == tessera_device_detach_native));
        CHECK(offsetof(tessera_device_interface_t, impl) == 15 * sizeof(void *));
        FakeGpu gpu;
        gpu->set_capability(86);
        int major = 0, minor = 0;
        CHECK(i.compute_capability(nullptr, &major, &minor) == 0);
        CHECK(major == 8);
        CHECK(minor == 6);
        CHECK(gpu->retained(0) == 0);  // no context is made for that
    }
}

TEST_SUITE("memory of a device") {
    TEST_CASE("freed memory is kept for the next, until it is told to go") {
        FakeGpu gpu;
        Picture p({{0, 1000, 1, 0}});
        CHECK(p.upload() == 0);
        const uint64_t place = p.buffer.device;
        CHECK(p.free() == 0);
        CHECK(p.upload() == 0);
        CHECK(p.buffer.device == place);
        CHECK(p.free() == 0);
        CHECK(gpu->calls("cuMemAllocFromPoolAsync") == 1);
        CHECK(gpu->calls("cuMemFreeAsync") == 0);
        CHECK(tessera_cuda_release_unused_device_allocations(nullptr) == 0);
        CHECK(gpu->calls("cuMemFreeAsync") == 1);
        CHECK(gpu->live_bytes() == 0);
        CHECK(gpu->kept_bytes() == 0);
        CHECK(tessera_can_reuse_device_allocations(nullptr));
        CHECK(p.upload() == 0);
        CHECK(tessera_reuse_device_allocations(nullptr, false) == 0);
        CHECK_FALSE(tessera_can_reuse_device_allocations(nullptr));
        CHECK(p.free() == 0);  // as it was allocated
        CHECK(p.upload() == 0);
        CHECK(gpu->calls("cuMemAlloc_v2") == 1);
        CHECK(tessera_reuse_device_allocations(nullptr, true) == 0);
        CHECK(p.free() == 0);
        CHECK(gpu->calls("cuMemFree_v2") == 1);
    }
    TEST_CASE("large memory is kept by the pool, and what was freed before the last sixteen") {
        FakeGpu gpu;
        Picture large({{0, (64 << 20) / 4 + 1, 1, 0}});
        CHECK(large.upload() == 0);
        CHECK(large.free() == 0);
        CHECK(gpu->calls("cuMemFreeAsync") == 1);
        std::vector<std::unique_ptr<Picture>> many;
        for (int i = 0; i < 17; i++) {
            many.push_back(std::make_unique<Picture>(Dims{{0, 8 + i, 1, 0}}));
            CHECK(many.back()->upload() == 0);
        }
        for (auto &p : many) CHECK(p->free() == 0);
        CHECK(gpu->calls("cuMemFreeAsync") == 2);
        CHECK(many[1]->upload() == 0);  // of the last sixteen
        CHECK(gpu->calls("cuMemAllocFromPoolAsync") == 18);
        CHECK(many[0]->upload() == 0);
        CHECK(gpu->calls("cuMemAllocFromPoolAsync") == 19);
        CHECK(many[0]->free() == 0);
        CHECK(many[1]->free() == 0);
    }
    TEST_CASE("what the default stream has freed is not for another one, nor the reverse") {
        FakeGpu gpu;
        static CUstream_st *stream = nullptr;
        stream = nullptr;
        tessera_set_cuda_get_stream([](void *, CUctx_st *, CUstream_st **on) {
            *on = stream;
            return 0;
        });
        Picture p(row);
        CHECK(p.upload() == 0);
        CHECK(p.free() == 0);
        stream = gpu->new_stream();
        CHECK(p.upload() == 0);
        CHECK(gpu->calls("cuMemAllocFromPoolAsync") == 2);
        CHECK(p.free() == 0);
        CHECK(gpu->calls("cuMemFreeAsync") == 1);
        CHECK(p.upload() == 0);
        CHECK(gpu->calls("cuMemAllocFromPoolAsync") == 3);
        CHECK(p.free() == 0);
        stream = nullptr;
        CHECK(p.upload() == 0);
        CHECK(gpu->calls("cuMemAllocFromPoolAsync") == 3);
        CHECK(p.free() == 0);
        CHECK(gpu->calls("cuMemFreeAsync") == 3);  // others may use what the default one frees now
    }
    TEST_CASE("a device without pools allocates plainly") {
        FakeGpu gpu;
        gpu->set_pools(false);
        Picture p(row);
        CHECK(p.upload() == 0);
        CHECK(p.free() == 0);
        CHECK(gpu->calls("cuMemAlloc_v2") == 1);
        CHECK(gpu->calls("cuMemAllocFromPoolAsync") == 0);
    }
    TEST_CASE("what is kept is given back where there is not enough; then it is an error") {
        FakeGpu gpu;
        gpu->set_memory(10000);
        Picture small({{0, 1500, 1, 0}}), large({{0, 2400, 1, 0}});
        tessera_reuse_device_allocations(nullptr, true);
        CHECK(small.upload() == 0);
        CHECK(small.free() == 0);
        tessera_reuse_device_allocations(nullptr, true);
        CHECK(large.upload() == 0);
        CHECK(small.upload() == tessera_error_code_device_malloc_failed);
        CHECK(gpu.capture.has("allocating 6000 bytes on the GPU failed: CUDA_ERROR_OUT_OF_MEMORY "
                              "(out of memory)"));
        CHECK(small.buffer.device == 0);
        CHECK(small.buffer.device_interface == nullptr);
        CHECK(small.buffer.host_dirty());
        CHECK(large.free() == 0);
    }
    TEST_CASE("a failed free is an error, and the buffer is off the device") {
        FakeGpu gpu;
        gpu.may_leave_memory = true;
        Picture p({{0, 17 << 20, 1, 0}});  // so large that it is not kept
        CHECK(p.upload() == 0);
        gpu->fail("cuMemFreeAsync", 1, 1);
        CHECK(p.free() == tessera_error_code_device_free_failed);
        CHECK(
            gpu.capture.has("freeing 71303168 bytes on the GPU failed: CUDA_ERROR_INVALID_VALUE"));
        CHECK(p.buffer.device == 0);
        CHECK(p.upload() == 0);
        gpu->fail("cuMemFreeAsync", 1, 4);  // the driver has shut down before
        CHECK(p.free() == 0);
    }
    TEST_CASE("release gives everything back, and what comes after makes it anew") {
        FakeGpu gpu;
        Picture p({{0, 200000, 1, 0}});
        CHECK(p.upload() == 0);
        CHECK(gpu->pinned_blocks() == 2);
        tessera_device_release(nullptr, gpu_interface());
        CHECK(gpu->retained(0) == 1);  // p lives there
        CHECK(gpu->pinned_blocks() == 0);
        CHECK(p.download() == 0);
        CHECK(p.free() == 0);
        tessera_device_release(nullptr, gpu_interface());
        CHECK(gpu->retained(0) == 0);
        tessera_device_release(nullptr, gpu_interface());
        CHECK(p.upload() == 0);
        CHECK(gpu->retained(0) == 1);
        CHECK(p.free() == 0);
    }
}
