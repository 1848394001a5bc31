#include "capture.h"
#include "runtime/tessera_runtime_cuda.h"
#include <cstdlib>
#include <dlfcn.h>
#include <doctest/doctest.h>

// How the driver is found, and what is said where it is not: in a process of its own, for what has
// been found stays. The cases are in order.

namespace {

void set(const char *variable, const char *value) { setenv(variable, value, 1); }

int wait_for_gpu() { return tessera_device_sync_global(nullptr, tessera_cuda_device_interface()); }

void is_without_gpu(const std::string &why) {
    Capture capture;
    CHECK(wait_for_gpu() == tessera_error_code_gpu_device_error);
    INFO(capture.text());
    CHECK(capture.has(why));
    capture.text().clear();
    int major = 1, minor = 1;
    CHECK(tessera_cuda_device_interface()->compute_capability(nullptr, &major, &minor) == 0);
    CHECK(major == 0);
    CHECK(minor == 0);
    tessera_device_release(nullptr, tessera_cuda_device_interface());
    tessera_cuda_unload(nullptr);
    CHECK(tessera_cuda_release_unused_device_allocations(nullptr) == 0);
    CHECK(capture.text().empty());
}

}  // namespace

TEST_SUITE("the driver of CUDA") {
    TEST_CASE("without a driver the program goes on, and every function says why") {
        if (void *real = dlopen("libcuda.so.1", RTLD_LAZY)) {
            dlclose(real);
            MESSAGE("there is a driver here");
            return;
        }
        is_without_gpu("There is no driver for NVIDIA's GPUs, which this pipeline runs on: cannot "
                       "load libcuda.so.1 (libcuda.so.1: cannot open shared object file");
        Capture capture;
        tessera_dimension_t dim{0, 4, 1, 0};
        int memory[4] = {1, 2, 3, 4};
        tessera_buffer_t b = {};
        b.host = reinterpret_cast<uint8_t *>(memory);
        b.type = {tessera_type_int, 32, 1};
        b.dimensions = 1;
        b.dim = &dim;
        b.set_host_dirty();
        CHECK(tessera_copy_to_device(nullptr, &b, tessera_cuda_device_interface()) ==
              tessera_error_code_gpu_device_error);
        CHECK(b.device == 0);
        CHECK(b.host_dirty());
        const tessera_cuda_kernels_t none{nullptr, 0};
        const int32_t shape[] = {1, 1, 1, 1, 1, 1, 0};
        CHECK(tessera_cuda_run(nullptr, &none, "f", shape, nullptr) ==
              tessera_error_code_gpu_device_error);
    }
    TEST_CASE("a library that is not there") {
        set("TESSERA_CUDA_DRIVER", "/nowhere/libcuda.so");
        is_without_gpu("cannot load /nowhere/libcuda.so");
    }
    TEST_CASE("a library that is no driver") {
        set("TESSERA_CUDA_DRIVER", "libm.so.6");
        is_without_gpu("The driver for NVIDIA's GPUs has no function cuDriverGetVersion");
    }
    TEST_CASE("a driver that is too old") {
        set("TESSERA_CUDA_DRIVER", FAKE_CUDA);
        set("FAKE_CUDA_VERSION", "10020");
        is_without_gpu("The driver for NVIDIA's GPUs is too old: it is made for CUDA 10.2, and "
                       "11.0 is the least");
        set("FAKE_CUDA_VERSION", "13000");
    }
    TEST_CASE("a driver without a GPU") {
        set("FAKE_CUDA_DEVICES", "0");
        is_without_gpu("There is no NVIDIA GPU that can be used: cuInit says CUDA_ERROR_NO_DEVICE "
                       "(no CUDA-capable device is detected)");
        set("FAKE_CUDA_DEVICES", "2");
    }
    TEST_CASE("a program that has the driver itself, and a device that the environment names") {
        unsetenv("TESSERA_CUDA_DRIVER");
        REQUIRE(dlopen(FAKE_CUDA, RTLD_NOW | RTLD_GLOBAL));
        set("TESSERA_GPU_DEVICE", "first");
        Capture capture;
        CHECK(wait_for_gpu() == tessera_error_code_gpu_device_error);
        CHECK(capture.has("TESSERA_GPU_DEVICE (or HL_GPU_DEVICE) is not the number of a GPU: this "
                          "process has 2 GPUs"));
        tessera_set_gpu_device(1);
        CHECK(wait_for_gpu() == 0);
        int major = 0, minor = 0;
        CHECK(tessera_cuda_device_interface()->compute_capability(nullptr, &major, &minor) == 0);
        CHECK(major == 9);
        CHECK(minor == 0);
    }
}
