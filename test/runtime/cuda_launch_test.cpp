#include "cuda_fixture.h"
#include <atomic>
#include <string>
#include <thread>

namespace {

// add_one(pointer, n), of one thread each.
void add_one(const FakeLaunch &launch) {
    const uint64_t pointer = *static_cast<uint64_t *>(launch.args[0]);
    const uint64_t n = *static_cast<uint64_t *>(launch.args[1]);
    for (uint64_t i = 0; i < n; i++) {
        ++*static_cast<int *>(FakeGpu::driver()->memory(pointer + 4 * i));
    }
}

void nothing(const FakeLaunch &) {}

// read(pointer, distance): two rows, as a tensor map has them.
std::vector<int> rows_read;
int row_of_read = 0;
void read_rows(const FakeLaunch &launch) {
    const uint64_t pointer = *static_cast<uint64_t *>(launch.args[0]),
                   distance = *static_cast<uint64_t *>(launch.args[1]);
    for (uint64_t y = 0; y < 2; y++)
        for (int x = 0; x < row_of_read; x++)
            rows_read.push_back(*static_cast<int *>(
                FakeGpu::driver()->memory(pointer + distance * y + 4 * uint64_t(x))));
}

constexpr FakeKernel kernel_of_two_arguments{"add_one", 2, add_one};

const tessera_cuda_image_t ptx{80, true, false, "ptx 80", 7, false};
const tessera_cuda_kernels_t only_ptx{&ptx, 1};

int run(const char *kernel, std::vector<int32_t> shape, void **args = nullptr,
        const tessera_cuda_kernels_t *kernels = &only_ptx) {
    return tessera_cuda_run(nullptr, kernels, kernel, shape.data(), args);
}

int add_one_to(tessera_buffer_t &buffer, uint64_t n, void *user_context = nullptr,
               const tessera_cuda_kernels_t *kernels = &only_ptx) {
    void *args[] = {&buffer.device, &n};
    const int32_t shape[] = {int32_t(n), 1, 1, 1, 1, 1, 0};
    return tessera_cuda_run(user_context, kernels, "add_one", shape, args);
}

// A GPU with the kernels of these tests, which are unloaded at the end.
struct Kernels : FakeGpu {
    Kernels() {
        (*this)->add_kernel(kernel_of_two_arguments);
        (*this)->add_kernel({"nothing", 0, nothing});
    }
    ~Kernels() { tessera_cuda_unload(&only_ptx); }
};

}  // namespace

TEST_SUITE("kernels of CUDA") {
    TEST_CASE("a kernel runs on the device, with the arguments of its launch") {
        Kernels gpu;
        Picture p({{0, 8, 1, 0}});
        CHECK(p.upload() == 0);
        CHECK(add_one_to(p.buffer, 8) == 0);
        CHECK(add_one_to(p.buffer, 2) == 0);
        CHECK(p.download() == 0);
        CHECK(p.memory == std::vector<int>{2, 3, 3, 4, 5, 6, 7, 8});
        CHECK(gpu->current() == nullptr);
        CHECK(p.free() == 0);
    }
    TEST_CASE("kernels are loaded and looked up once, and unloaded") {
        Kernels gpu;
        const tessera_cuda_kernels_t others{&ptx, 1};
        for (int i = 0; i < 5; i++) {
            CHECK(run("nothing", {1, 1, 1, 1, 1, 1, 0}) == 0);
            CHECK(run("nothing", {1, 1, 1, 1, 1, 1, 0}, nullptr, &others) == 0);
        }
        CHECK(gpu->modules() == 2);
        CHECK(gpu->calls("cuModuleGetFunction") == 2);
        CHECK(gpu->calls("cuLaunchKernel") == 10);
        tessera_cuda_unload(&others);
        CHECK(gpu->modules() == 1);
        tessera_cuda_unload(&others);
        CHECK(run("nothing", {1, 1, 1, 1, 1, 1, 0}) == 0);
        CHECK(gpu->calls("cuModuleGetFunction") == 2);
        CHECK(run("nothing", {1, 1, 1, 1, 1, 1, 0}, nullptr, &others) == 0);
        CHECK(gpu->modules() == 2);
        tessera_cuda_unload(&others);
        CHECK(gpu->current() == nullptr);
    }
    TEST_CASE("kernels that wait by themselves for those before them may begin early") {
        Kernels gpu;
        const tessera_cuda_image_t images[] = {{80, true, false, "ptx 80", 7, false},
                                               {90, true, false, "ptx 90", 7, true}};
        const tessera_cuda_kernels_t kernels{images, 2};
        Picture p({{0, 8, 1, 0}});
        CHECK(p.upload() == 0);
        CHECK(add_one_to(p.buffer, 8, nullptr, &kernels) == 0);
        CHECK(add_one_to(p.buffer, 2, nullptr, &kernels) == 0);
        CHECK(p.download() == 0);
        CHECK(p.memory == std::vector<int>{2, 3, 3, 4, 5, 6, 7, 8});
        CHECK(gpu->calls("cuLaunchKernelEx") == 2);
        CHECK(gpu->calls("cuLaunchKernel") == 0);
        gpu->fail("cuLaunchKernelEx", 1, 1);
        CHECK(run("nothing", {2, 1, 1, 4, 1, 1, 0}, nullptr, &kernels) ==
              tessera_error_code_gpu_device_error);
        CHECK(gpu.capture.has("launching the kernel nothing with 2 x 1 x 1 blocks"));
        CHECK(p.free() == 0);
        tessera_cuda_unload(&kernels);
    }
    TEST_CASE("kernels of an image that do not wait begin after those before them") {
        Kernels gpu;
        gpu->set_capability(80);
        const tessera_cuda_image_t images[] = {{80, true, false, "ptx 80", 7, false},
                                               {90, true, false, "ptx 90", 7, true}};
        const tessera_cuda_kernels_t kernels{images, 2};
        CHECK(run("nothing", {1, 1, 1, 1, 1, 1, 0}, nullptr, &kernels) == 0);
        CHECK(gpu->calls("cuLaunchKernelEx") == 0);
        CHECK(gpu->calls("cuLaunchKernel") == 1);
        tessera_cuda_unload(&kernels);
    }
    TEST_CASE("a launch that is known is a few calls of the driver") {
        Kernels gpu;
        CHECK(run("nothing", {1, 1, 1, 1, 1, 1, 0}) == 0);
        const int before = gpu->all_calls();
        CHECK(run("nothing", {1, 1, 1, 1, 1, 1, 0}) == 0);
        CHECK(gpu->all_calls() - before == 4);  // current, push, launch, pop
    }
    TEST_CASE("a name is what it says, even if another one was at its address") {
        Kernels gpu;
        char name[] = "nothing";
        CHECK(run(name, {1, 1, 1, 1, 1, 1, 0}) == 0);
        std::snprintf(name, sizeof(name), "nobody");
        CHECK(run(name, {1, 1, 1, 1, 1, 1, 0}) == tessera_error_code_gpu_device_error);
        CHECK(gpu.capture.has("finding the kernel nobody failed: CUDA_ERROR_NOT_FOUND"));
    }
    TEST_CASE("without blocks or threads nothing happens, not even with the driver") {
        Kernels gpu;
        for (int i = 0; i < 6; i++) {
            std::vector<int32_t> shape(7, 1);
            for (int32_t n : {0, -3}) {
                shape[size_t(i)] = n;
                CHECK(run("nothing", shape) == 0);
            }
        }
        CHECK(gpu->all_calls() == 0);
    }
    TEST_CASE("the best image of those that run on the device is loaded") {
        const tessera_cuda_image_t images[] = {
            {75, true, false, "ptx 75", 7, false},
            {90, true, false, "ptx 90", 7, false},
            {80, false, false, "code 80", 8, false},
            {86, false, false, "code 86", 8, false},
            {90, false, true, "exact 90", 9, false},
            {90, false, false, "code 90", 8, false},
            {120, false, false, "code 120", 9, false},
            {100, true, true, "exact ptx 100", 14, false},
        };
        const tessera_cuda_kernels_t kernels{images, 8};
        struct {
            int capability;
            std::string image;
        } cases[] = {{75, "ptx 75"},  {80, "code 80"},   {86, "code 86"},
                     {89, "code 86"}, {90, "exact 90"},  {100, "exact ptx 100"},
                     {103, "ptx 90"}, {121, "code 120"}, {88, "code 86"}};
        for (const auto &c : cases) {
            Kernels gpu;
            gpu->set_capability(c.capability);
            CHECK(run("nothing", {1, 1, 1, 1, 1, 1, 0}, nullptr, &kernels) == 0);
            CHECK(gpu->last_image() == c.image);
        }
    }
    TEST_CASE("where no image runs, it is said what there is and what the GPU is") {
        Kernels gpu;
        gpu->set_capability(75);
        const tessera_cuda_image_t images[] = {{90, false, true, "exact 90", 9, false},
                                               {80, true, false, "ptx 80", 7, false}};
        const tessera_cuda_kernels_t kernels{images, 2}, none{nullptr, 0};
        CHECK(run("nothing", {1, 1, 1, 1, 1, 1, 0}, nullptr, &kernels) ==
              tessera_error_code_gpu_device_error);
        CHECK(
            gpu.capture.has("no kernels for the GPU Fake GPU, which has compute capability 7.5; "
                            "it has those for 9.0 exactly (machine code), 8.0 (PTX). Compile it"));
        CHECK(run("nothing", {1, 1, 1, 1, 1, 1, 0}, nullptr, &none) != 0);
        CHECK(gpu.capture.has("it has those for none"));
    }
    TEST_CASE("an image that the driver does not take gives way to the next") {
        Kernels gpu;
        const tessera_cuda_image_t images[] = {{90, false, false, "bad", 4, false},
                                               {90, true, false, "new ptx", 8, false},
                                               {80, true, false, "ptx 80", 7, false}};
        const tessera_cuda_kernels_t three{images, 3}, two{images, 2};
        CHECK(run("nothing", {1, 1, 1, 1, 1, 1, 0}, nullptr, &three) == 0);
        CHECK(gpu->last_image() == std::string("ptx 80"));
        CHECK(run("nothing", {1, 1, 1, 1, 1, 1, 0}, nullptr, &two) != 0);
        CHECK(gpu.capture.has("loading the kernels for 9.0 (machine code) (line 1: bad) failed: "
                              "CUDA_ERROR_INVALID_IMAGE"));
    }
    TEST_CASE("what no tensor map can describe is refused, before anything is read of it") {
        FakeGpu gpu;
        alignas(64) char map[128];
        const auto refused = [&](int32_t bytes, const std::vector<int32_t> &shape,
                                 const char *why) {
            gpu.capture.text().clear();
            CHECK(tessera_cuda_tensor_map(nullptr, map, nullptr, bytes, shape.data()) ==
                  tessera_error_code_device_run_failed);
            INFO(gpu.capture.text());
            CHECK(gpu.capture.has(why));
        };
        for (int32_t rank : {-1, 0, 6, 1000}) {
            refused(
                2, {0, rank},
                ("a tensor map has 1 to 5 dimensions, and not " + std::to_string(rank)).c_str());
        }
        refused(3, {0, 1, 64, 64, 1}, "a tensor map has elements of 1, 2, 4 or 8 bytes, and not 3");
        refused(2, {0, 2, 64, 8, 64, 64, 8, 2, 0, 128},
                "a matrix whose elements are 2 elements apart cannot be copied in boxes: they have "
                "to be dense");
        refused(2, {0, 2, 64, 8, 64, 64, 8, 1, 0, 48},
                "a tensor map swizzles rows of 32, 64 or 128 bytes, and not of 48");
        refused(2, {0, 2, 64, 8, 64, 64, 8, 1, -1, 128},
                "boxes of a matrix begin at places of its rows that are no multiples of 16 bytes "
                "apart");
        refused(2, {1, 2, 64, 8, 64, 64, 8, 1, 0, 128},
                "a tensor map has 3 to 5 dimensions, and not 2");
        refused(
            2, {0, 2, 64, 8, 60, 64, 8, 1, 0, 128},
            "a matrix of 64 x 8 elements of 2 bytes at 0, with 120 bytes from row to row, cannot "
            "be copied in boxes of 64 x 8");
        // Rows that would have to be copied.
        refused(
            2, {2, 2, 64, 8, 68, 64, 8, 1, 0, 128},
            "a matrix of 64 x 8 elements of 2 bytes at 0, with 136 bytes from row to row, cannot "
            "be stored in boxes of 64 x 8: its address and its rows have to be at multiples of 16");
        CHECK(gpu->calls("cuTensorMapEncodeTiled") == 0);
        gpu->fail("cuTensorMapEncodeIm2col", 1, 1);
        refused(2, {1, 3, 64, 8, 4, 64, 512, 64, 32, 2, -1, -3, 1, 0, 128},
                "cannot be copied in 32 places of 64 channels, 2 apart from -1 on to -3 from the "
                "last one");
    }
    TEST_CASE("the driver is told of boxes, or of places of a convolution") {
        FakeGpu gpu;
        alignas(64) char map[128];
        const auto made = [&](const std::vector<int32_t> &shape) {
            CHECK(tessera_cuda_tensor_map(nullptr, map, nullptr, 2, shape.data()) == 0);
            return std::string(gpu->last_map());
        };
        const std::string boxes =
            "boxes of type 1 dims 640 8 strides 1408 box 64 4 steps 1 1 swizzle 2";
        CHECK(made({0, 2, 640, 8, 704, 64, 4, 1, 0, 64}) == boxes);
        CHECK(made({2, 2, 640, 8, 704, 64, 4, 1, 0, 64}) == boxes);
        // 3 x 3 taps of every other place of 14 x 12 with a border of one.
        CHECK(made({1,  4, 128, 14, 12, 5,  128, 1792, 21504, 64,
                    96, 2, 2,   -1, -1, -1, -1,  1,    0,     128}) ==
              "places of type 1 dims 128 14 12 5 strides 256 3584 43008 lower -1 -1 upper -1 -1 "
              "channels 64 places 96 steps 1 2 2 1 swizzle 3");
    }
    TEST_CASE("a tensor map of rows at no multiples of 16 bytes is of a copy") {
        Kernels gpu;
        gpu->add_kernel({"read", 2, read_rows});
        const auto rows_of = [&](Picture &p, int32_t first, std::vector<int32_t> shape) {
            alignas(64) uint64_t map[16];
            const uint64_t at = p.buffer.device + uint64_t(4 * first);
            CHECK(tessera_cuda_tensor_map(nullptr, map, reinterpret_cast<void *>(at), 4,
                                          shape.data()) == 0);
            rows_read.clear();
            void *args[] = {&map[0], &map[1]};
            row_of_read = shape[2];
            CHECK(run("read", {1, 1, 1, 1, 1, 1, 0}, args) == 0);
            CHECK(drain_gpu() == 0);
        };
        Picture p({{0, 30, 1, 0}});
        CHECK(p.upload() == 0);
        rows_of(p, 4, {0, 2, 3, 2, 4, 3, 2, 1, 0, 0});
        CHECK(rows_read == std::vector<int>{4, 5, 6, 8, 9, 10});
        CHECK(gpu->calls("cuMemcpy2DAsync_v2") == 0);
        rows_of(p, 4, {0, 2, 3, 2, 7, 3, 2, 1, 0, 0});
        CHECK(rows_read == std::vector<int>{4, 5, 6, 11, 12, 13});
        CHECK(gpu->calls("cuMemcpy2DAsync_v2") == 1);
        rows_of(p, 1, {0, 2, 3, 2, 4, 3, 2, 1, 0, 0});  // where it begins
        CHECK(rows_read == std::vector<int>{1, 2, 3, 5, 6, 7});
        rows_of(p, 0, {0, 3, 3, 1, 2, 5, 10, 3, 1, 2, 1, 0, 0});  // planes 10 apart
        CHECK(rows_read == std::vector<int>{0, 1, 2, 10, 11, 12});
        CHECK(gpu->calls("cuMemcpy2DAsync_v2") == 4);
        // Rows of both dimensions that follow one another without a gap are copied at once.
        rows_of(p, 0, {0, 3, 3, 1, 2, 5, 5, 3, 1, 2, 1, 0, 0});
        CHECK(rows_read == std::vector<int>{0, 1, 2, 5, 6, 7});
        CHECK(gpu->calls("cuMemcpy2DAsync_v2") == 5);
        // Coordinates that count from two elements before a row, which are zero.
        rows_of(p, 4, {0, 2, 3, 2, 4, 3, 2, 1, 2, 0});
        CHECK(rows_read == std::vector<int>{0, 0, 4, 0, 0, 8});
        // Places of a convolution, too.
        rows_of(p, 0, {1, 3, 3, 2, 2, 5, 10, 3, 2, 1, 0, 0, 1, 0, 0});
        CHECK(rows_read == std::vector<int>{0, 1, 2, 5, 6, 7});
        CHECK(gpu->calls("cuMemcpy2DAsync_v2") == 7);
        CHECK(p.free() == 0);
        CHECK(gpu.bytes_of_buffers() == 0);
    }
    TEST_CASE("what a device cannot launch is said with the figures and the limit") {
        Kernels gpu;
        gpu->add_kernel({"narrow", 0, nothing, 256, 1000});
        auto refused = [&](const char *kernel, const std::vector<int32_t> &shape,
                           const std::string &why) {
            gpu.capture.text().clear();
            CHECK(run(kernel, shape) == tessera_error_code_gpu_device_error);
            INFO(gpu.capture.text());
            CHECK(gpu.capture.has(std::string("cannot launch the kernel ") + kernel + ": " + why));
            CHECK(gpu->calls("cuLaunchKernel") == 0);
        };
        refused("nothing", {1, 1, 1, 64, 32, 1, 0},
                "64 x 32 x 1 = 2048 threads per block are asked for, and there can be 1024 (GPU: "
                "Fake GPU)");
        refused("nothing", {1, 1, 1, 1, 1, 65, 0},
                "1 x 1 x 65 threads per block are asked for, and there can be 64 along z");
        refused("nothing", {1, 65536, 1, 1, 1, 1, 0},
                "1 x 65536 x 1 blocks are asked for, and there can be 65535 along y");
        refused("narrow", {1, 1, 1, 257, 1, 1, 0},
                "257 x 1 x 1 = 257 threads per block are asked for, and there can be 256, with the "
                "registers");
        refused("narrow", {1, 1, 1, 1, 1, 1, 232448},
                "233448 bytes of shared memory per block are asked for, and there can be 232448");
        refused("nothing", {1, 1, 1, 1, 1, 1, -8}, "the bytes of shared memory");
        refused("nothing", {1, 1, 1, 2147483647, 2147483647, 1, 0}, "2147483647 x 2147483647 x 1");
    }
    TEST_CASE("more than 48 KiB of shared memory is asked for, once") {
        Kernels gpu;
        gpu->add_kernel({"narrow", 0, nothing, 256, 1000});
        CHECK(run("narrow", {1, 1, 1, 1, 1, 1, 49152 - 1000}) == 0);
        CHECK(gpu->calls("cuFuncSetAttribute") == 0);
        CHECK(run("narrow", {1, 1, 1, 1, 1, 1, 49152}) == 0);
        CHECK(run("narrow", {1, 1, 1, 1, 1, 1, 231448}) == 0);
        CHECK(gpu->dynamic_shared() == 231448);
        CHECK(gpu->calls("cuFuncSetAttribute") == 1);
    }
    TEST_CASE("a refused launch says what was to be launched") {
        Kernels gpu;
        gpu->fail("cuLaunchKernel", 1, 1);
        CHECK(run("nothing", {1, 2, 3, 4, 5, 6, 7}) == tessera_error_code_gpu_device_error);
        CHECK(gpu.capture.has("launching the kernel nothing with 1 x 2 x 3 blocks of 4 x 5 x 6 "
                              "threads and 7 bytes of shared memory failed: "
                              "CUDA_ERROR_INVALID_VALUE (invalid argument)"));
        CHECK(gpu->current() == nullptr);
        CHECK(run("nothing", {1, 2, 3, 4, 5, 6, 7}) == 0);
    }
    TEST_CASE("a fault is said where somebody waits, and by all that comes after") {
        Kernels gpu;
        gpu.may_leave_memory = true;
        Picture p({{0, 8, 1, 0}}), q({{0, 8, 1, 0}});
        CHECK(p.upload() == 0);
        CHECK(q.upload() == 0);
        CHECK(add_one_to(p.buffer, 8) == 0);
        gpu->fail_all(700, false);
        p.buffer.set_device_dirty();
        const std::vector<int> before = p.memory;
        CHECK(tessera_copy_to_host(nullptr, &p.buffer) == tessera_error_code_copy_to_host_failed);
        CHECK(
            gpu.capture.has("copying 32 bytes from the GPU failed: CUDA_ERROR_ILLEGAL_ADDRESS (an "
                            "illegal memory access was encountered); something that ran on the "
                            "GPU before has failed, and its context with it"));
        CHECK(p.memory == before);
        CHECK(p.buffer.device_dirty());
        CHECK(tessera_device_sync(nullptr, &q.buffer) == tessera_error_code_device_sync_failed);
        CHECK(
            gpu.capture.has("waiting for what runs on the GPU failed: CUDA_ERROR_ILLEGAL_ADDRESS"));
        CHECK(add_one_to(q.buffer, 8) == tessera_error_code_gpu_device_error);
        CHECK(q.upload() == tessera_error_code_copy_to_device_failed);
        Picture r({{0, 8, 1, 0}});
        CHECK(r.upload() == tessera_error_code_device_malloc_failed);
        // The memory is gone with the context: there is nothing more to say.
        gpu.capture.text().clear();
        CHECK(p.free() == 0);
        CHECK(q.free() == 0);
        tessera_cuda_unload(&only_ptx);
        CHECK(gpu.capture.text().empty());
        CHECK(gpu->current() == nullptr);
    }
    TEST_CASE("a context that has failed and cannot even be entered says so, and is left quietly") {
        Kernels gpu;
        gpu.may_leave_memory = true;
        Picture p({{0, 8, 1, 0}});
        CHECK(p.upload() == 0);
        gpu->fail_all(719, true);
        CHECK(drain_gpu() == tessera_error_code_gpu_device_error);
        CHECK(gpu.capture.has("entering the context of the GPU failed: CUDA_ERROR_LAUNCH_FAILED"));
        gpu.capture.text().clear();
        CHECK(p.free() == 0);
        tessera_cuda_unload(&only_ptx);
        tessera_device_release(nullptr, gpu_interface());
        CHECK(gpu.capture.text().empty());
    }
    TEST_CASE("after the driver has shut down nothing more is said") {
        Kernels gpu;
        gpu.may_leave_memory = true;
        Picture p({{0, 8, 1, 0}});
        CHECK(p.upload() == 0);
        CHECK(run("nothing", {1, 1, 1, 1, 1, 1, 0}) == 0);
        gpu->fail_all(4, true);
        CHECK(p.free() == 0);
        tessera_cuda_unload(&only_ptx);
        tessera_device_release(nullptr, gpu_interface());
        CHECK(gpu.capture.text().empty());
    }
    TEST_CASE("many threads launch, copy, allocate, unload and toggle the cache at once") {
        Kernels gpu;
        std::atomic<int> wrong{0};
        std::vector<std::thread> threads;
        Picture shared({{0, 100, 1, 0}});
        shared.buffer.set_host_dirty();
        for (int t = 0; t < 8; t++) {
            threads.emplace_back([&, t] {
                const tessera_cuda_image_t image{80, true, false, "ptx 80", 7, false};
                const tessera_cuda_kernels_t mine{&image, 1};
                for (int i = 0; i < 60; i++) {
                    Picture p({{0, i % 7 == 0 ? 100000 : 50, 1, 0}});
                    const auto *kernels = i % 2 ? &mine : &only_ptx;
                    wrong += tessera_copy_to_device(nullptr, &shared.buffer, gpu_interface()) != 0;
                    wrong += p.upload() != 0;
                    wrong += add_one_to(p.buffer, 50, nullptr, kernels) != 0;
                    wrong += p.download() != 0;
                    for (int x = 0; x < 50; x++) wrong += p.memory[size_t(x)] != x + 1;
                    wrong += p.free() != 0;
                    if (i % 10 == t) tessera_reuse_device_allocations(nullptr, i % 20 == t);
                    if (i % 5 == 0) tessera_cuda_unload(&mine);
                }
                tessera_cuda_unload(&mine);
            });
        }
        for (std::thread &t : threads) t.join();
        CHECK(wrong == 0);
        CHECK(shared.free() == 0);
    }
}
