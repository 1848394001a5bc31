// Checks and times of the runtime on a real GPU: `cuda_smoke`, and `cuda_smoke fault` for what
// makes the GPU useless to the process. One line for each check; the exit code is 1 if one fails.
#include "runtime/tessera_runtime_cuda.h"
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <thread>
#include <vector>

namespace {

// add(pointer, n, value): element i of the whole grid += value; fault(pointer): writes to address
// 8; shared(pointer): by way of 100,000 bytes of dynamic shared memory.
const char ptx_text[] = R"(
.version 7.0
.target sm_75
.address_size 64
.extern .shared .align 16 .b8 dynamic[];
.visible .entry add(.param .u64 p, .param .u32 n, .param .s32 value) {
    .reg .u64 %rd<4>;
    .reg .u32 %r<8>;
    .reg .pred %q;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r1, [n];
    ld.param.s32 %r2, [value];
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ntid.x;
    mov.u32 %r5, %tid.x;
    mad.lo.u32 %r6, %r3, %r4, %r5;
    setp.ge.u32 %q, %r6, %r1;
    @%q bra done;
    mul.wide.u32 %rd2, %r6, 4;
    add.u64 %rd3, %rd1, %rd2;
    ld.global.s32 %r7, [%rd3];
    add.s32 %r7, %r7, %r2;
    st.global.s32 [%rd3], %r7;
done:
    ret;
}
.visible .entry shared(.param .u64 p) {
    .reg .u64 %rd<2>;
    .reg .u32 %r<4>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, dynamic;
    add.u32 %r1, %r1, 99996;
    ld.global.u32 %r2, [%rd1];
    st.shared.u32 [%r1], %r2;
    ld.shared.u32 %r3, [%r1];
    add.u32 %r3, %r3, 1;
    st.global.u32 [%rd1], %r3;
    ret;
}
.visible .entry nothing() {
    ret;
}
.visible .entry fault() {
    .reg .u64 %rd<2>;
    .reg .u32 %r<2>;
    mov.u64 %rd1, 8;
    mov.u32 %r1, 1;
    st.global.u32 [%rd1], %r1;
    ret;
}
)";
const tessera_cuda_image_t image{75, true, false, ptx_text, sizeof(ptx_text), false};
const tessera_cuda_kernels_t kernels{&image, 1};

int failed = 0, checks = 0;
std::string last_error;

void check(bool ok, const char *what) {
    checks++;
    if (!ok) failed++;
    std::printf("%s  %s%s%s\n", ok ? "ok    " : "FAILED", what, last_error.empty() ? "" : ": ",
                last_error.c_str());
    last_error.clear();
}

struct Buffer {
    explicit Buffer(std::vector<tessera_dimension_t> shape) : dims(std::move(shape)) {
        b = {};
        b.type = {tessera_type_int, 32, 1};
        b.dimensions = int32_t(dims.size());
        b.dim = dims.data();
        memory.resize(tessera_buffer_size_in_bytes(&b) / 4);
        for (size_t i = 0; i < memory.size(); i++) memory[i] = int(i);
        b.host = reinterpret_cast<uint8_t *>(memory.data());
        for (const auto &d : dims) {
            if (d.stride < 0) b.host -= int64_t(d.extent - 1) * d.stride * 4;
        }
    }
    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;
    ~Buffer() { tessera_device_free(nullptr, &b); }
    int upload() {
        b.set_host_dirty();
        return tessera_copy_to_device(nullptr, &b, tessera_cuda_device_interface());
    }
    int download() {
        b.set_device_dirty();
        return tessera_copy_to_host(nullptr, &b);
    }
    int &at(int x, int y) {
        int site[] = {x, y};
        return *reinterpret_cast<int *>(b.address_of(site));
    }

    std::vector<tessera_dimension_t> dims;
    std::vector<int> memory;
    tessera_buffer_t b;
};

int run(const char *kernel, std::vector<int32_t> shape, std::vector<void *> args,
        void *user_context = nullptr) {
    shape.resize(7);
    return tessera_cuda_run(user_context, &kernels, kernel, shape.data(), args.data());
}

int add(Buffer &p, int n, int value, void *user_context = nullptr) {
    return run("add", {(n + 255) / 256, 1, 1, 256, 1, 1}, {&p.b.device, &n, &value}, user_context);
}

int wait_for_gpu() { return tessera_device_sync_global(nullptr, tessera_cuda_device_interface()); }

void check_kernels() {
    Buffer p({{0, 100000, 1, 0}});
    check(p.upload() == 0, "copy to the GPU");
    check(add(p, 100000, 5) == 0, "launch a kernel");
    check(p.download() == 0, "copy to the host");
    bool right = true;
    for (int i = 0; i < 100000; i++) right = right && p.memory[size_t(i)] == i + 5;
    check(right, "the kernel's results");
    check(run("shared", {1, 1, 1, 1, 1, 1, 100000}, {&p.b.device}) == 0,
          "launch with 100,000 bytes of shared memory");
    check(p.download() == 0 && p.memory[0] == 6, "its result");
    check(run("nothing", {1, 1, 1, 2048, 1, 1}, {}) != 0 &&
              last_error.find("2048 x 1 x 1 threads") != std::string::npos,
          "too many threads are refused");
    check(run("nothing", {1, 70000, 1, 1, 1, 1}, {}) != 0, "too many blocks are refused");
    check(run("shared", {1, 1, 1, 1, 1, 1, 300000}, {&p.b.device}) != 0,
          "too much shared memory is refused");
    check(run("nobody", {1, 1, 1, 1, 1, 1}, {}) != 0, "an unknown kernel is refused");
    check(run("nothing", {0, 1, 1, 1, 1, 1}, {}) == 0 && wait_for_gpu() == 0, "no blocks: nothing");
    tessera_cuda_unload(&kernels);
    check(add(p, 10, 1) == 0 && wait_for_gpu() == 0, "a kernel after its module was unloaded");
}

void check_layouts() {
    for (const std::vector<tessera_dimension_t> &shape :
         {std::vector<tessera_dimension_t>{{0, 1000, 1, 0}, {0, 700, 1024, 0}},
          {{0, 1000, -1, 0}, {0, 700, 1000, 0}},
          {{0, 30, 1, 0}, {0, 50, 32, 0}, {0, 400, 2000, 0}},
          {{0, 30, 3, 0}, {0, 50, 90, 0}}}) {
        Buffer p(shape);
        const std::vector<int> before = p.memory;
        bool ok = p.upload() == 0;
        tessera_buffer_t all = p.b, host = p.b;  // what belongs to it becomes -1
        std::vector<int> expected = before, minus(before.size(), -1);
        std::fill(p.memory.begin(), p.memory.end(), -1);
        ok = ok && p.download() == 0;
        const int64_t to_first = p.b.host - reinterpret_cast<uint8_t *>(p.memory.data());
        all.host = reinterpret_cast<uint8_t *>(expected.data()) + to_first;
        host.host = reinterpret_cast<uint8_t *>(minus.data()) + to_first;
        all.device = host.device = all.flags = host.flags = 0;
        all.device_interface = host.device_interface = nullptr;
        ok = ok && tessera_buffer_copy(nullptr, &all, &host) == 0 && minus == p.memory;
        check(ok, "there and back, with its padding left alone");
    }
    Buffer p({{0, 100, 1, 0}, {0, 60, 100, 0}}), part({{20, 30, 1, 0}, {40, 20, 100, 0}});
    bool ok = p.upload() == 0 && tessera_device_crop(nullptr, &p.b, &part.b) == 0;
    check(ok && part.download() == 0 && part.at(49, 59) == 49 + 5900, "a crop");
    check(tessera_device_free(nullptr, &p.b) == 0 && part.download() == 0,
          "a crop whose whole has been freed");
    check(tessera_device_release_crop(nullptr, &part.b) == 0, "its release");
    Buffer src({{0, 100, 1, 0}, {0, 60, 100, 0}}), dst({{50, 100, 60, 0}, {30, 60, 1, 0}});
    std::fill(dst.memory.begin(), dst.memory.end(), -1);
    dst.b.set_host_dirty();
    ok = src.upload() == 0 &&
         tessera_device_buffer_copy(nullptr, &src.b, tessera_cuda_device_interface(), &dst.b) == 0;
    ok = ok && tessera_copy_to_host(nullptr, &dst.b) == 0;
    check(ok && dst.at(60, 40) == 4060 && dst.at(120, 40) == -1,
          "a transposed, partly overlapping copy on the GPU");
}

void check_threads() {
    std::vector<std::thread> threads;
    std::vector<int> wrong(8);
    for (int t = 0; t < 8; t++) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < 100; i++) {
                Buffer p({{0, i % 10 == 0 ? 1000000 : 1000, 1, 0}});
                wrong[size_t(t)] +=
                    p.upload() || add(p, 1000, t) || p.download() || p.memory[999] != 999 + t;
            }
        });
    }
    for (std::thread &t : threads) t.join();
    check(std::count(wrong.begin(), wrong.end(), 0) == 8, "8 threads at once");
}

// The program's own stream, as the user context.
void check_streams() {
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY);
    using Create = int (*)(CUstream_st **, unsigned);
    using Retain = int (*)(CUctx_st **, int);
    using Set = int (*)(CUctx_st *);
    static CUctx_st *context = nullptr;
    CUstream_st *stream = nullptr;
    reinterpret_cast<Retain>(dlsym(driver, "cuDevicePrimaryCtxRetain"))(&context, 0);
    reinterpret_cast<Set>(dlsym(driver, "cuCtxSetCurrent"))(context);
    reinterpret_cast<Create>(dlsym(driver, "cuStreamCreate"))(&stream, 1);
    tessera_set_cuda_acquire_context([](void *, CUctx_st **c, bool) { return *c = context, 0; });
    tessera_set_cuda_get_stream([](void *user, CUctx_st *, CUstream_st **s) {
        *s = static_cast<CUstream_st *>(user);
        return 0;
    });
    Buffer p({{0, 1000000, 1, 0}});
    p.b.set_host_dirty();
    bool ok = tessera_copy_to_device(stream, &p.b, tessera_cuda_device_interface()) == 0;
    for (int i = 0; i < 10; i++) ok = ok && add(p, 1000000, 1, stream) == 0;
    p.b.set_device_dirty();
    ok = ok && tessera_copy_to_host(stream, &p.b) == 0 && p.memory[999999] == 999999 + 10;
    check(ok, "a stream of the program's own");
    check(tessera_device_free(stream, &p.b) == 0, "its memory");
    tessera_set_cuda_acquire_context(nullptr);
    tessera_set_cuda_get_stream(nullptr);
}

using Clock = std::chrono::steady_clock;

// Seconds for one f(), the best of several tries of `n` each, with what they started.
template<typename F> double seconds(int n, F f) {
    double best = 1e9;
    for (int i = 0; i < 5; i++) {
        wait_for_gpu();
        const auto start = Clock::now();
        for (int j = 0; j < n; j++) f();
        wait_for_gpu();
        best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count() / n);
    }
    return best;
}

// Of the calls alone.
template<typename F> double seconds_of_calls(int n, F f) {
    double best = 1e9;
    for (int i = 0; i < 5; i++) {
        wait_for_gpu();
        const auto start = Clock::now();
        for (int j = 0; j < n; j++) f();
        best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count() / n);
    }
    return best;
}

void print_times() {
    Buffer p({{0, 1000, 1, 0}});
    p.upload();
    std::printf("launch:            %.2f us back to back, %.2f us the call, %.2f us with a wait\n",
                1e6 * seconds(2000, [&] { add(p, 256, 1); }),
                1e6 * seconds_of_calls(500, [&] { add(p, 256, 1); }), 1e6 * seconds(200, [&] {
                                                                          add(p, 256, 1);
                                                                          wait_for_gpu();
                                                                      }));
    for (int bytes : {1000, 1000000, 100000000}) {
        Buffer q({{0, bytes / 4, 1, 0}});
        q.b.host = nullptr;
        std::printf("malloc + free:     %.2f us for %d bytes\n",
                    1e6 * seconds(200,
                                  [&] {
                                      tessera_device_malloc(nullptr, &q.b,
                                                            tessera_cuda_device_interface());
                                      tessera_device_free(nullptr, &q.b);
                                  }),
                    bytes);
    }
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY);
    using Register = int (*)(void *, size_t, unsigned);
    using Unregister = int (*)(void *);
    auto pin = reinterpret_cast<Register>(dlsym(driver, "cuMemHostRegister_v2"));
    auto unpin = reinterpret_cast<Unregister>(dlsym(driver, "cuMemHostUnregister"));
    for (int megabytes : {1, 16, 256}) {
        const int n = megabytes << 18;
        Buffer q({{0, n, 1, 0}}), padded({{0, 1000, 1, 0}, {0, n / 1024, 1024, 0}});
        const double gb = double(megabytes) * (1 << 20) / 1e9;
        q.upload(), padded.upload();
        auto rate = [&](double bytes, auto f) { return bytes / seconds(10, f); };
        std::printf("copy of %3d MiB:   pageable %.1f GB/s up, %.1f down; ", megabytes,
                    rate(gb, [&] { q.upload(); }), rate(gb, [&] { q.download(); }));
        std::printf("padded rows %.1f up, %.1f down; ", rate(gb, [&] { padded.upload(); }),
                    rate(gb, [&] { padded.download(); }));
        // The primary context is current since check_streams().
        const int result = pin(q.b.host, size_t(n) * 4, 0);
        std::printf("pinned %.1f up, %.1f down%s\n", rate(gb, [&] { q.upload(); }),
                    rate(gb, [&] { q.download(); }), result ? " (could not be pinned)" : "");
        if (!result) unpin(q.b.host);
    }
}

void check_fault() {
    Buffer p({{0, 1000, 1, 0}}), q({{0, 1000, 1, 0}});
    check(p.upload() == 0 && q.upload() == 0, "memory before the fault");
    check(run("fault", {1, 1, 1, 1, 1, 1}, {}) == 0, "the launch of a kernel with a fault");
    check(wait_for_gpu() == tessera_error_code_device_sync_failed, "the fault is said by a wait");
    check(p.download() == tessera_error_code_copy_to_host_failed, "and by a copy after");
    check(add(q, 10, 1) != 0, "and by a launch");
    check(p.memory[999] == 999, "nothing on the host is lost");
    check(tessera_device_free(nullptr, &p.b) == 0, "memory of the lost context is freed quietly");
    tessera_cuda_unload(&kernels);
    tessera_device_release(nullptr, tessera_cuda_device_interface());
}

}  // namespace

int main(int argc, char **argv) {
    tessera_set_error_handler([](void *, const char *text) { last_error = text; });
    int major = 0, minor = 0;
    tessera_cuda_device_interface()->compute_capability(nullptr, &major, &minor);
    std::printf("compute capability %d.%d\n", major, minor);
    if (major == 0) {
        check(wait_for_gpu() == 0, "a GPU that can be used");
    } else if (argc > 1 && std::strcmp(argv[1], "fault") == 0) {
        check_fault();
    } else {
        check_kernels();
        check_layouts();
        check_threads();
        check_streams();
        print_times();
        tessera_device_release(nullptr, tessera_cuda_device_interface());
        Buffer p({{0, 1000, 1, 0}});
        check(p.upload() == 0 && add(p, 1000, 1) == 0 && p.download() == 0 && p.memory[9] == 10,
              "everything made anew after a release");
    }
    std::printf("%d checks, %d failed\n", checks, failed);
    return failed ? 1 : 0;
}
