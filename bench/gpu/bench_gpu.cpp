// How fast pipelines run on this machine's GPU, beside a copy of the same bytes by the driver.
// Prints a table; ends with 1 if there is no GPU or a result is wrong.
#include "tessera.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>

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

// Of buffers of so many bytes; as many are read as written.
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
    std::printf(
        "one kernel, in a row %.2f us; two and a temporary %.2f us; call and wait %.2f us\n", one,
        two, waited);
}

}  // namespace

int main() {
    if (!host_supports_target_device(Target("host-cuda"))) {
        std::printf("this machine has no GPU that pipelines can run on\n");
        return 1;
    }
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    launches();
    copies<uint8_t>("u8", 16);
    copies<float16_t>("f16", 8);
    copies<float>("f32", 1);
    copies<float>("f32", 4);
    copies<float>("f32", 8);
    for (int size : {4096, 8192, 16384}) blur(size);
    return 0;
}
