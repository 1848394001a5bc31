#pragma once
#include "../program.h"
#include "HalideRuntimeCuda.h"
#include "runtime/fake_cuda.h"
#include <dlfcn.h>
#include <string>

// A GPU that needs none, as new, for a program that uses one by the names of Halide's runtime.
class Gpu {
public:
    Gpu() {
        driver()->reset();
        before = halide_set_error_handler(take_error);
        text().clear();
    }
    Gpu(const Gpu &) = delete;
    ~Gpu() {
        halide_set_error_handler(before);
        Internal::JITSharedRuntime::release_all();
    }
    const FakeCuda *operator->() const { return driver(); }
    // Whether Buffers have left nothing there, nothing is current, and nothing went wrong.
    bool is_clean() const {
        Internal::JITSharedRuntime::release_all();
        return driver()->live_bytes() == 0 && driver()->modules() == 0 && !driver()->current() &&
               text().empty();
    }
    // Bytes of Buffers on the device, without those that are freed and kept.
    uint64_t bytes_of_buffers() const {
        halide_cuda_release_unused_device_allocations(nullptr);
        return driver()->live_bytes();
    }
    // What has been reported since the last question.
    std::string errors() const { return std::exchange(text(), ""); }
    static const FakeCuda *driver() {
        static const FakeCuda *it = [] {
            setenv("TESSERA_CUDA_DRIVER", FAKE_CUDA, 1);
            void *library = dlopen(FAKE_CUDA, RTLD_NOW);
            return reinterpret_cast<const FakeCuda *(*)()>(dlsym(library, "fake_cuda"))();
        }();
        return it;
    }

private:
    static std::string &text() {
        static std::string all;
        return all;
    }
    static void take_error(void *, const char *message) { text() += message; }
    halide_error_handler_t before;
};

inline const halide_device_interface_t *cuda() { return halide_cuda_device_interface(); }

// The element n behind where the buffer begins on the device, once all has happened there.
inline int &on_device(const halide_buffer_t *b, int n) {
    halide_device_sync_global(nullptr, cuda());
    return static_cast<int *>(Gpu::driver()->memory(b->device))[n];
}
