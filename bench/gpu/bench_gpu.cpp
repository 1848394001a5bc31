// Measures how fast pipelines run on this machine's GPU, beside a copy of the same bytes by the
// driver. Prints a table; ends with 1 if there is no GPU or a result is wrong.
#include "gpu/card.h"
#include "tessera.h"
#include "tessera_runtime_cuda.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <stdexcept>

using namespace tessera;

namespace {

Var x("x"), y("y"), xo("xo"), yo("yo"), xi("xi"), yi("yi"), v("v");

double now() {
    using namespace std::chrono;
    return duration<double, std::micro>(steady_clock::now().time_since_epoch()).count();
}

// Some numbers, quickly.
template<typename T> void fill(Buffer<T> &b) {
    T *values = b.data();
    const int64_t count = int64_t(b.number_of_elements());
    for (int64_t i = 0; i < count; i++) values[i] = T(float((i * 7 + (i >> 12)) % 101));
    b.set_host_dirty();
}

// Microseconds of one call in a row of calls, the best of several rows; `wait` waits for the last.
double time_of(const std::function<void()> &call, const std::function<void()> &wait) {
    call();
    wait();
    double best = 1e30;
    const int calls = 50;
    for (int row = 0; row < 7; row++) {
        const double begin = now();
        for (int i = 0; i < calls; i++) call();
        wait();
        best = std::min(best, (now() - begin) / calls);
    }
    return best;
}

// Times copies of buffers of so many bytes; as many are read as written.
double time_of_driver_copy(int64_t bytes) {
    Buffer<uint8_t> a(int(bytes / 4096), 4096), b(int(bytes / 4096), 4096);
    a.set_host_dirty();
    a.copy_to_device();
    b.device_malloc();
    const auto *device = get_device_interface_for_device_api(DeviceAPI::CUDA, Target("host-cuda"));
    return time_of([&] { tessera_device_buffer_copy(nullptr, a, device, b); },
                   [&] { b.device_sync(); });
}

template<typename T> void copies(const char *type, int lanes) {
    const int width = 4096 * 4, height = int(int64_t(512 << 20) / 2 / width / int(sizeof(T)));
    ImageParam in(type_of<T>(), 2, "in");
    Func out("out");
    out(x, y) = in(x, y);
    out.split(x, x, v, lanes).vectorize(v).gpu_tile(x, y, xi, yi, 64, 4);
    Buffer<T> a(width, height), b(width, height);
    fill(a);
    in.set(a);
    const Target target("host-cuda");
    const double us = time_of([&] { out.realize(b, target); }, [&] { b.device_sync(); });
    b.copy_to_host();
    bool right = true;
    for (int i = 0; i < width; i += 17)
        right &= double(b(i, i % height)) == double(a(i, i % height));
    const double bytes = double(width) * height * sizeof(T);
    const double driver = time_of_driver_copy(int64_t(bytes));
    std::printf("copy %-4s x %-2d a thread   %9.1f us %7.0f GB/s   driver %9.1f us  ratio %.2f%s\n",
                type, lanes, us, 2 * bytes / us / 1e3, driver, driver / us, right ? "" : "  WRONG");
}

void blur(int size) {
    ImageParam in(Float(32), 2, "in");
    Func h("h"), out("out");
    const Func padded = BoundaryConditions::repeat_edge(in);
    h(x, y) = (padded(x - 1, y) + padded(x, y) + padded(x + 1, y)) * (1.0f / 3);
    out(x, y) = (h(x, y - 1) + h(x, y) + h(x, y + 1)) * (1.0f / 3);
    out.split(x, x, v, 2).split(y, y, yo, 4).reorder(v, yo, x, y).vectorize(v).unroll(yo);
    out.gpu_tile(x, y, xi, yi, 128, 1);
    Buffer<float> a(size, size), b(size, size);
    fill(a);
    in.set(a);
    const Target target("host-cuda");
    const double us = time_of([&] { out.realize(b, target); }, [&] { b.device_sync(); });
    const double bytes = 4.0 * size * size;
    const double driver = time_of_driver_copy(int64_t(bytes));
    std::printf("blur 3x3 f32 %-6d       %9.1f us %7.0f GB/s   driver %9.1f us  ratio %.2f\n", size,
                us, 2 * bytes / us / 1e3, driver, driver / us);
}

// A kernel that the driver alone launches: what no pipeline can take less than.
class DriverLaunch {
public:
    DriverLaunch() {
        find(load, "cuModuleLoadData");
        find(function, "cuModuleGetFunction");
        find(launch, "cuLaunchKernel");
        find(synchronize, "cuStreamSynchronize");
        find(allocate, "cuMemAllocAsync");
        find(free, "cuMemFreeAsync");
        find(current, "cuCtxSetCurrent");
        find(retain, "cuDevicePrimaryCtxRetain");
        const char *nothing = ".version 7.0\n.target sm_70\n.address_size 64\n"
                              ".visible .entry nothing(.param .u64 p, .param .u32 n) { ret; }\n";
        void *context = nullptr, *module = nullptr;
        const bool ok = !retain(&context, 0) && !current(context) && !load(&module, nothing) &&
                        !function(&kernel, module, "nothing");
        if (!ok) throw std::runtime_error("the driver does not load a kernel");
    }
    void run() { launch(kernel, 2, 1, 1, 32, 1, 1, 0, nullptr, args, nullptr); }
    void run_two_with_a_temporary() {
        uint64_t memory = 0;
        allocate(&memory, 256, nullptr);
        run();
        run();
        free(memory, nullptr);
    }
    void wait() { synchronize(nullptr); }

private:
    template<typename F> static void find(F &f, const char *name) {
        f = reinterpret_cast<F>(tessera_cuda_get_symbol(nullptr, name));
    }
    int (*load)(void **, const void *);
    int (*function)(void **, void *, const char *);
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                  void *, void **, void **);
    int (*synchronize)(void *);
    int (*allocate)(uint64_t *, size_t, void *);
    int (*free)(uint64_t, void *);
    int (*current)(void *);
    int (*retain)(void **, int);
    void *kernel = nullptr;
    uint64_t pointer = 0;
    uint32_t number = 0;
    void *args[2] = {&pointer, &number};
};

void launches() {
    Func f("f"), g("g");
    f(x) = cast<float>(x);
    f.gpu_tile(x, xi, 32);
    Buffer<float> b(64);
    const Target target("host-cuda");
    const double one = time_of([&] { f.realize(b, target); }, [&] { b.device_sync(); });
    const double waited = time_of(
        [&] {
            f.realize(b, target);
            b.device_sync();
        },
        [] {});
    Func t("t");
    t(x) = cast<float>(x) * 2;
    g(x) = t(x) + t(63 - x);
    t.compute_root().gpu_tile(x, xi, 32);
    g.gpu_tile(x, xi, 32);
    const double two = time_of([&] { g.realize(b, target); }, [&] { b.device_sync(); });
    const Callable callable = f.compile_to_callable({}, target);
    const double called = time_of([&] { callable(b); }, [&] { b.device_sync(); });
    DriverLaunch driver;
    const double least = time_of([&] { driver.run(); }, [&] { driver.wait(); });
    const double least_two =
        time_of([&] { driver.run_two_with_a_temporary(); }, [&] { driver.wait(); });
    const double least_waited = time_of(
        [&] {
            driver.run();
            driver.wait();
        },
        [] {});
    std::printf("microseconds of a call, and of the same by the driver alone:\n"
                "one kernel, in a row     %6.2f (a Callable %.2f)  driver %6.2f\n"
                "two and a temporary      %6.2f  driver %6.2f\n"
                "one kernel, and wait     %6.2f  driver %6.2f\n",
                one, called, least, two, least_two, waited, least_waited);
}

}  // namespace

int main() {
    if (!host_supports_target_device(Target("host-cuda"))) {
        std::printf("this machine has no GPU that pipelines can run on\n");
        return 1;
    }
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    std::printf("%s\n", bench::name_of_card().c_str());
    launches();
    copies<uint8_t>("u8", 16);
    copies<float16_t>("f16", 8);
    copies<float>("f32", 1);
    copies<float>("f32", 4);
    copies<float>("f32", 8);
    for (int size : {4096, 8192, 16384}) blur(size);
    return 0;
}
