#include "gpu.h"
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>

// Pipelines and Buffers of the language on a device.
namespace {

const Target with_cuda("host-cuda-cuda_capability_80");
Var x("x"), xi("xi");

// Stands for the kernel of `doubled`: arguments are two numbers, and where the result begins.
void run_doubled(const FakeLaunch &launch) {
    const uint64_t address = *static_cast<uint64_t *>(launch.args[2]);
    auto *at = static_cast<int *>(Gpu::driver()->memory(address));
    const unsigned n = launch.blocks[0] * launch.threads[0];
    for (unsigned j = 0; at && j < n; j++) at[j] = int(2 * j);
}
// 2 x, by blocks of 8 threads.
Func doubled() {
    Gpu::driver()->add_kernel({"doubled_pipeline_kernel_0", 3, run_doubled});
    Func f("doubled");
    f(x) = x * 2;
    f.gpu_tile(x, xi, 8, TailStrategy::RoundUp);
    return f;
}

// Stands for the kernel of `checked`, whose requirement fails in thread 9.
void run_checked(const FakeLaunch &launch) {
    auto *reports = *static_cast<tessera_cuda_reports_t **>(launch.args[0]);
    const float quarter = 2.25f;
    const double third = 3;
    uint64_t values[] = {
        uint64_t(12) << 32 | 1, 9, 0, 0, 1, uint8_t(-9), 0x3c00, 0xbf80, 1, 2, 3, 4};
    std::memcpy(&values[2], &quarter, sizeof(quarter));
    std::memcpy(&values[3], &third, sizeof(third));
    std::memcpy(reports->failure, values, sizeof(values));
    reports->failed = 1;
}

struct Mine : JITUserContext {
    CUctx_st *cuda = nullptr;
    CUstream_st *stream = nullptr;
    std::atomic<int> acquired{0}, released{0};
};
int32_t acquire(JITUserContext *c, void **cuda, bool) {
    auto *mine = static_cast<Mine *>(c);
    mine->acquired++;
    *cuda = mine->cuda;
    return 0;
}
int32_t release(JITUserContext *c) { return static_cast<Mine *>(c)->released++, 0; }
int32_t get_stream(JITUserContext *c, void *, void **stream) {
    return *stream = static_cast<Mine *>(c)->stream, 0;
}

struct Environment {
    explicit Environment(const char *target) { setenv("HL_JIT_TARGET", target, 1); }
    ~Environment() { unsetenv("HL_JIT_TARGET"); }
};

template<typename F>
std::string error_of(F f) {
    try {
        f();
    } catch (const Halide::Error &e) {
        return e.what();
    }
    return "";
}

}  // namespace

PROGRAM(results_stay_on_the_device) {
    Gpu gpu;
    Func f = doubled();
    {
        Buffer<int> out(16);
        f.realize(out, with_cuda);
        EXPECT(out.device_dirty() && out.has_device_allocation());
        EXPECT(out.copy_to_host() == 0 && !out.device_dirty() && out(15) == 30);
        Buffer<int> made = f.realize({8}, with_cuda);
        EXPECT(!made.device_dirty() && !made.host_dirty() && made.has_device_allocation());
        EXPECT(made(7) == 14);
        Runtime::Buffer<int> view(nullptr, 16);
        EXPECT(view.device_malloc(cuda()) == 0);
        f.realize(view.raw_buffer(), with_cuda);
        EXPECT(view.device_dirty() && gpu->calls("cuLaunchKernel") == 3);
    }
    EXPECT(gpu.is_clean());
    return 0;
}

PROGRAM(requirements_in_kernels_say_what_they_see) {
    Gpu gpu;
    gpu->add_kernel({"checked_pipeline_kernel_0", 1, run_checked});
    Func f("checked");
    f(x) =
        require(x < 9, x, "x:", x, cast<float>(x) / 4, cast<double>(x) / 3, x > 2, cast<int8_t>(-x),
                cast<float16_t>(x), cast<bfloat16_t>(x), "vector", Internal::Ramp::make(x, 1, 4));
    f.gpu_tile(x, xi, 8, TailStrategy::RoundUp);
    std::string why = error_of([&] { f.realize({16}, with_cuda); });
    why += gpu.errors();
    EXPECT(
        why.find("Requirement failed: x: 9 2.250000 3.000000e+00 true -9 1.000000 -1.000000 vector "
                 "<1, 2, 3, 4>") != std::string::npos);
    EXPECT(gpu->calls("cuLaunchKernel") == 1 && gpu.is_clean());
    return 0;
}

PROGRAM(calls_bring_contexts_and_streams) {
    Gpu gpu;
    Func f = doubled();
    Mine mine;
    mine.cuda = gpu->new_context(0);
    mine.stream = gpu->new_stream();
    mine.handlers.custom_cuda_acquire_context = acquire;
    mine.handlers.custom_cuda_release_context = release;
    mine.handlers.custom_cuda_get_stream = get_stream;
    {
        Buffer<int> out(16);
        f.realize(&mine, out, with_cuda);
        EXPECT(mine.acquired > 0 && mine.acquired == mine.released);
        EXPECT(gpu->retained(0) == 0 && gpu->pending(mine.stream) > 0);
        const int before = mine.acquired;
        EXPECT(out.copy_to_host(&mine) == 0 && out(3) == 6 && gpu->pending(mine.stream) == 0);
        EXPECT(mine.acquired > before && mine.acquired == mine.released);
        out(3) = 1;
        EXPECT(out.copy_to_device(with_cuda, &mine) == 0 && out.device_sync(&mine) == 0);
        // Others are not affected.
        Buffer<int> other(16);
        const int used = mine.acquired;
        f.realize(other, with_cuda);
        EXPECT(mine.acquired == used && gpu->retained(0) == 1);
        EXPECT(out.device_free(&mine) == 0 && mine.acquired == mine.released);
    }
    // What fails releases as well.
    gpu->fail("cuLaunchKernel", 1, 1);
    Buffer<int> out(16);
    EXPECT(error_of([&] { f.realize(&mine, out, with_cuda); }) != "");
    EXPECT(mine.acquired == mine.released);
    out.device_free(&mine);
    mine.cuda = nullptr;
    gpu.errors();
    std::string why = error_of([&] { f.realize(&mine, out, with_cuda); });
    why += gpu.errors();
    EXPECT(why.find("the program's own function gave no context") != std::string::npos);
    return 0;
}

PROGRAM(many_threads_bring_contexts) {
    Gpu gpu;
    Func f = doubled();
    f.compile_jit(with_cuda);
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++) {
        threads.emplace_back([&] {
            Mine mine;
            mine.cuda = gpu->new_context(0);
            mine.stream = gpu->new_stream();
            mine.handlers.custom_cuda_acquire_context = acquire;
            mine.handlers.custom_cuda_release_context = release;
            mine.handlers.custom_cuda_get_stream = get_stream;
            for (int j = 0; j < 10; j++) {
                Buffer<int> out(16);
                f.realize(&mine, out, with_cuda);
                out.copy_to_host(&mine);
                wrong += out(9) != 18;
                out.device_free(&mine);
            }
            wrong += mine.acquired != mine.released;
        });
    }
    for (std::thread &t : threads) t.join();
    EXPECT(wrong == 0);
    return 0;
}

PROGRAM(handlers_of_a_pipeline_are_completed) {
    Gpu gpu;
    JITUserContext context;
    Internal::JITSharedRuntime::populate_jit_handlers(&context, JITHandlers());
    EXPECT(context.handlers.custom_cuda_acquire_context &&
           context.handlers.custom_cuda_release_context && context.handlers.custom_cuda_get_stream);
    void *theirs = nullptr, *stream = &theirs;
    EXPECT(context.handlers.custom_cuda_acquire_context(&context, &theirs, true) == 0 && theirs);
    EXPECT(context.handlers.custom_cuda_get_stream(&context, theirs, &stream) == 0 && !stream);
    EXPECT(context.handlers.custom_cuda_release_context(&context) == 0);
    Func f = doubled();
    Buffer<int> out(16);
    f.realize(&context, out, with_cuda);
    EXPECT(out.copy_to_host(&context) == 0 && out(2) == 4);
    out.device_free();
    EXPECT(gpu.is_clean());
    return 0;
}

PROGRAM(buffers_of_the_language_on_a_device) {
    Gpu gpu;
    Buffer<int> b(4, 3), owner(4, 3);
    b.fill(2);
    EXPECT(b.copy_to_device(DeviceAPI::CUDA) == 0 && b.has_device_allocation());
    EXPECT(b.get()->device_free() == 0 && b.device_malloc(with_cuda) == 0);
    EXPECT(b.device_free() == 0 && b.device_malloc(DeviceAPI::Default_GPU, with_cuda) == 0);
    EXPECT(b.device_deallocate() == 0 && b.device_malloc(cuda()) == 0 && b.device_sync() == 0);
    b.set_host_dirty();
    EXPECT(b.copy_to_device(cuda()) == 0 && on_device(b.raw_buffer(), 11) == 2);
    owner.device_malloc(cuda());
    const uint64_t handle = owner.raw_buffer()->device;
    Buffer<int> wrapped(nullptr, 4, 3);
    EXPECT(wrapped.device_wrap_native(DeviceAPI::CUDA, handle, with_cuda) == 0);
    EXPECT(wrapped.device_detach_native() == 0);
    EXPECT(wrapped.device_wrap_native(cuda(), handle) == 0 && wrapped.has_device_allocation());
    EXPECT(wrapped.device_detach_native() == 0 && wrapped.device_detach_native() == 0);
    EXPECT(error_of([&] {
               b.copy_to_device(Target("x86-64-linux"));
           }).find("the target x86-64-linux has none") != std::string::npos);
    EXPECT(error_of([&] { b.device_malloc(DeviceAPI::Metal, with_cuda); }) != "");
    b.reset();
    owner.reset();
    EXPECT(gpu.is_clean());
    return 0;
}

PROGRAM(interfaces_of_devices_are_asked_for) {
    const Target plain("x86-64-linux"), opencl("x86-64-linux-opencl");
    EXPECT(get_device_interface_for_device_api(DeviceAPI::CUDA, with_cuda) == cuda());
    EXPECT(get_device_interface_for_device_api(DeviceAPI::Default_GPU, with_cuda) == cuda());
    EXPECT(!get_device_interface_for_device_api(DeviceAPI::CUDA, plain));
    EXPECT(!get_device_interface_for_device_api(DeviceAPI::Metal, with_cuda));
    EXPECT(!get_device_interface_for_device_api(DeviceAPI::OpenCL, opencl));
    EXPECT(!get_device_interface_for_device_api(DeviceAPI::CUDA));
    const std::string why = error_of(
        [&] { get_device_interface_for_device_api(DeviceAPI::Default_GPU, plain, "my_tool"); });
    EXPECT(why.find("my_tool: a GPU is asked for") != std::string::npos);
    EXPECT(get_default_device_api_for_target(with_cuda) == DeviceAPI::CUDA);
    EXPECT(get_default_device_api_for_target(opencl) == DeviceAPI::OpenCL);
    EXPECT(get_default_device_api_for_target(plain) == DeviceAPI::Host);
    Gpu gpu;
    EXPECT(host_supports_target_device(with_cuda) && !host_supports_target_device(opencl));
    return 0;
}

PROGRAM(numbers_are_evaluated_on_the_gpu_of_the_environment) {
    EXPECT(evaluate_may_gpu<int>(Expr(5) * 4) == 20);
    Environment environment("host-cuda-interpret");
    EXPECT(get_jit_target_from_environment().has_gpu_feature());
    EXPECT(evaluate_may_gpu<float>(sqrt(Expr(9.0f))) == 3.0f);
    int a = 0;
    float b = 0;
    evaluate_may_gpu(Tuple(Expr(3), 0.5f), &a, &b);
    EXPECT(a == 3 && b == 0.5f && evaluate<int>(Expr(7)) == 7);
    return 0;
}

PROGRAM(symbols_of_the_runtime_of_pipelines) {
    Gpu gpu;
    using Runtime = Internal::JITSharedRuntime;
    using GetSymbol = void *(*)(void *, const char *);
    Internal::JITModule::Symbol s = Runtime::find_symbol(with_cuda, "halide_cuda_get_symbol");
    EXPECT(s.address == reinterpret_cast<void *>(halide_cuda_get_symbol));
    EXPECT(reinterpret_cast<GetSymbol>(s.address)(nullptr, "cuCtxGetCurrent"));
    EXPECT(Runtime::find_symbol(with_cuda, "halide_device_malloc").address ==
           reinterpret_cast<void *>(halide_device_malloc));
    EXPECT(Runtime::find_symbol(with_cuda, "halide_buffer_copy").address ==
           reinterpret_cast<void *>(halide_buffer_copy));
    EXPECT(!Runtime::find_symbol(with_cuda, "halide_nothing").address);
    EXPECT(!Runtime::find_symbol(with_cuda, "printf").address);
    Runtime::reuse_device_allocations(false);
    EXPECT(!halide_can_reuse_device_allocations(nullptr));
    Runtime::reuse_device_allocations(true);
    EXPECT(halide_can_reuse_device_allocations(nullptr));
    {
        Func f = doubled();
        Buffer<int> out = f.realize({16}, with_cuda);
    }
    EXPECT(gpu->modules() == 1 && gpu->live_bytes() + gpu->kept_bytes() > 0);
    Runtime::release_all();
    EXPECT(gpu->modules() == 0 && gpu->live_bytes() + gpu->kept_bytes() == 0);
    EXPECT(gpu->retained(0) == 0);
    return 0;
}
