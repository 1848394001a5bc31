#pragma once
#include "capture.h"
#include "fake_cuda.h"
#include "runtime/tessera_runtime_cuda.h"
#include <cstdlib>
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <numeric>
#include <vector>

using Dims = std::vector<tessera_dimension_t>;

// A fake GPU, as new, on which nothing may be left at the end; what is reported is captured.
class FakeGpu {
public:
    FakeGpu() { driver()->reset(); }
    ~FakeGpu() {
        driver()->fail_all(0, false);
        tessera_set_cuda_acquire_context(nullptr);
        tessera_set_cuda_release_context(nullptr);
        tessera_set_cuda_get_stream(nullptr);
        tessera_reuse_device_allocations(nullptr, true);
        for (int device : {1, 0}) {
            tessera_set_gpu_device(device);
            tessera_device_release(nullptr, tessera_cuda_device_interface());
        }
        tessera_set_gpu_device(-1);
        if (may_leave_memory) return;
        CHECK(driver()->live_bytes() == 0);
        CHECK(driver()->modules() == 0);
        CHECK(driver()->retained(0) == 0);
        CHECK(driver()->retained(1) == 0);
        CHECK(driver()->current() == nullptr);
    }
    FakeGpu(const FakeGpu &) = delete;
    FakeGpu &operator=(const FakeGpu &) = delete;

    const FakeCuda *operator->() const { return driver(); }

    // Bytes of buffers on the device: freed memory is given back first.
    uint64_t bytes_of_buffers() const {
        CHECK(tessera_cuda_release_unused_device_allocations(nullptr) == 0);
        return driver()->live_bytes();
    }

    bool may_leave_memory = false;
    Capture capture;

    static const FakeCuda *driver() {
        static const FakeCuda *it = [] {
            setenv("TESSERA_CUDA_DRIVER", FAKE_CUDA, 1);
            void *library = dlopen(FAKE_CUDA, RTLD_NOW);
            auto get = reinterpret_cast<const FakeCuda *(*)()>(dlsym(library, "fake_cuda"));
            return get();
        }();
        return it;
    }
};

inline const tessera_device_interface_t *gpu_interface() { return tessera_cuda_device_interface(); }

// A buffer over memory of its own, whose elements are 0, 1, 2, ... in memory.
struct Picture {
    explicit Picture(Dims shape, size_t elements = 0) : dims(std::move(shape)) {
        tessera_buffer_t b = {};
        buffer = b;
        buffer.type = {tessera_type_int, 32, 1};
        buffer.dimensions = int32_t(dims.size());
        buffer.dim = dims.data();
        const size_t bytes = tessera_buffer_size_in_bytes(&buffer);
        memory.resize(elements ? elements : bytes / 4);
        std::iota(memory.begin(), memory.end(), 0);
        buffer.host = reinterpret_cast<uint8_t *>(memory.data());
        for (const auto &d : dims) {
            if (d.stride < 0) buffer.host -= int64_t(d.extent - 1) * d.stride * 4;
        }
    }
    Picture(const Picture &) = delete;
    Picture &operator=(const Picture &) = delete;

    int &at(std::vector<int> site) {
        return *reinterpret_cast<int *>(buffer.address_of(site.data()));
    }
    // On the device.
    int on_device(std::vector<int> site) {
        int64_t index = 0;
        for (size_t d = 0; d < dims.size(); d++) {
            index += int64_t(site[d] - dims[d].min) * dims[d].stride;
        }
        const void *p = FakeGpu::driver()->memory(buffer.device + uint64_t(index * 4));
        return p ? *static_cast<const int *>(p) : -999;
    }
    void put_on_device(std::vector<int> site, int value) {
        int64_t index = 0;
        for (size_t d = 0; d < dims.size(); d++) {
            index += int64_t(site[d] - dims[d].min) * dims[d].stride;
        }
        *static_cast<int *>(FakeGpu::driver()->memory(buffer.device + uint64_t(index * 4))) = value;
    }
    int upload() {
        buffer.set_host_dirty();
        return tessera_copy_to_device(nullptr, &buffer, gpu_interface());
    }
    int download() {
        buffer.set_device_dirty();
        return tessera_copy_to_host(nullptr, &buffer);
    }
    int free() { return tessera_device_free(nullptr, &buffer); }

    Dims dims;
    std::vector<int> memory;
    tessera_buffer_t buffer;
};

inline int drain_gpu() { return tessera_device_sync_global(nullptr, gpu_interface()); }
