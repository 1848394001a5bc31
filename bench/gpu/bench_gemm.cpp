// Products of matrices of float16 on tensor cores, beside cuBLAS in the same process: its time over
// ours, the median of many pairs in turns. Each result is checked against sums in double precision.
// Without arguments: all rows of the table. The library is found as libcublas.so.13 or .12.
#include "gpu/card.h"
#include "gpu/cublas.h"
#include "tessera.h"
#include "tessera_runtime_cuda.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

using namespace tessera;
using tessera::bench::Cublas;

namespace {

// A schedule of a product: the tile of a block, those of its warps, and so on.
struct Plan {
    const char *name;
    bool wgmma;
    int rows, columns;               // of a block
    int warp_rows, warp_columns;     // of a warp, or of a warpgroup
    int stages, group;               // group: rows of blocks that are begun together, or 0
    bool persistent, roles = false;  // roles: a warp copies for the others
};

const Plan plans[] = {
    {"wgmma 128x256", true, 128, 256, 64, 256, 4, 16, false},
    {"wgmma 256x128", true, 256, 128, 128, 128, 4, 16, false},
    {"wgmma 128x256, plain order", true, 128, 256, 64, 256, 4, 0, false},
    {"wgmma 128x256, persistent", true, 128, 256, 64, 256, 4, 16, true},
    {"wgmma 128x256, roles", true, 128, 256, 64, 256, 4, 16, false, true},
    {"wgmma 128x256, persistent, roles", true, 128, 256, 64, 256, 4, 16, true, true},
    {"mma 128x256", false, 128, 256, 64, 64, 4, 16, false},
    {"mma 256x128", false, 256, 128, 64, 64, 4, 16, false},
};

struct Gemm {
    Var x{"x"}, y{"y"}, xi{"xi"}, yi{"yi"}, wx{"wx"}, wy{"wy"};
    RVar ko{"ko"}, ki{"ki"};
    ImageParam a{Float(16), 2, "a"}, b{Float(16), 2, "b"};
    Func product{"product"}, out{"out"};

    // b is stored k x n, or with `transposed` n x k.
    Gemm(const Plan &p, int k_extent, bool transposed) {
        RDom k(0, k_extent, "k");
        const Expr of_b = transposed ? b(k, x) : b(x, k);
        product(x, y) += cast<float>(a(k, y)) * cast<float>(of_b);
        out(x, y) = cast<float16_t>(product(x, y));
        out.tile(x, y, xi, yi, p.columns, p.rows).gpu_blocks(x, y);
        if (p.group > 0) out.gpu_order(grouped(p.group));
        if (p.persistent) out.persistent();
        if (p.roles) out.warp_specialize(40, 232);
        product.compute_at(out, x).store_in(MemoryType::Tile);
        Stage update = product.update();
        update.split(k, ko, ki, 64);
        for (const auto &tile : {0, 1, 2}) {
            const auto share = [&](auto &stage, Var tx, Var ty) {
                stage.tile(tx, ty, wx, wy, tx, ty, p.warp_columns, p.warp_rows);
                if (tile == 2) stage.reorder({VarOrRVar(ki), tx, ty, wx, wy, VarOrRVar(ko)});
                if (p.wgmma)
                    stage.gpu_warpgroups(wx).gpu_warpgroups(wy);
                else
                    stage.gpu_warps(wx, wy);
            };
            if (tile == 0) share(out, xi, yi);
            if (tile == 1) share(product, x, y);
            if (tile == 2) share(update, x, y);
        }
        update.tensorize(x, y, ki, p.wgmma ? TensorInstruction::WGMMA : TensorInstruction::MMA);
        for (Func staged : {a.in(), b.in()})
            staged.compute_at(product, ko)
                .store_in(MemoryType::GPUShared)
                .async()
                .ring_buffer(p.stages);
    }
};

// Times by events on the default stream.
struct Clock {
    template<typename F> static F symbol(const char *name) {
        return reinterpret_cast<F>(tessera_cuda_get_symbol(nullptr, name));
    }
    Clock() {
        create(&begin, 0);
        create(&end, 0);
    }
    double us(const std::function<void()> &call, int calls) {
        record(begin, nullptr);
        for (int i = 0; i < calls; i++) call();
        record(end, nullptr);
        wait(end);
        float ms = 0;
        elapsed(&ms, begin, end);
        return double(ms) * 1e3 / calls;
    }
    int (*create)(void **, unsigned) = symbol<int (*)(void **, unsigned)>("cuEventCreate");
    int (*record)(void *, void *) = symbol<int (*)(void *, void *)>("cuEventRecord");
    int (*wait)(void *) = symbol<int (*)(void *)>("cuEventSynchronize");
    int (*elapsed)(float *, void *,
                   void *) = symbol<int (*)(float *, void *, void *)>("cuEventElapsedTime");
    void *begin = nullptr, *end = nullptr;
};

void fill(Buffer<float16_t> &buffer, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> values(-1, 1);
    for (size_t i = 0; i < buffer.number_of_elements(); i++)
        buffer.data()[i] = float16_t(values(random));
    buffer.set_host_dirty();
    buffer.copy_to_device();
}

// The largest error of some elements, relative to sqrt(k).
double error_of(Buffer<float16_t> &a, Buffer<float16_t> &b, bool transposed,
                Buffer<float16_t> &out) {
    out.copy_to_host();
    const int m = out.height(), n = out.width(), k = a.width();
    double worst = 0;
    for (int i = 0; i < 4000; i++) {
        const int x = int(int64_t(i) * 7919 % n), y = int(int64_t(i) * 104729 % m);
        double sum = 0;
        for (int r = 0; r < k; r++)
            sum += double(float(a(r, y))) * double(float(transposed ? b(r, x) : b(x, r)));
        worst = std::max(worst, std::abs(sum - double(float(out(x, y)))) / std::sqrt(double(k)));
    }
    return worst;
}

void row(const Plan &plan, int m, int n, int k, bool transposed, Cublas &cublas, Clock &clock) {
    const Target target("host-cuda");
    Gemm gemm(plan, k, transposed);
    Buffer<float16_t> a(k, m), b(transposed ? k : n, transposed ? n : k), out(n, m), theirs(n, m);
    fill(a, 1);
    fill(b, 2);
    gemm.a.set(a);
    gemm.b.set(b);
    theirs.device_malloc();
    gemm.out.realize(out, target);
    const double error = error_of(a, b, transposed, out);
    const auto ours = [&] { gemm.out.realize(out, target); };
    const auto vendor = [&] {
        cublas.gemm_f16(m, n, k, a.raw_buffer()->device, b.raw_buffer()->device, transposed,
                        theirs.raw_buffer()->device);
    };
    double us = clock.us(ours, 3), vendor_us = 0;
    const int calls = std::max(2, int(20000 / std::max(us, 10.0)));
    std::vector<double> ratios, times, vendor_times;
    for (int i = 0; i < 15; i++) {
        times.push_back(clock.us(ours, calls));
        vendor_times.push_back(cublas.is_there() ? clock.us(vendor, calls) : 0);
        ratios.push_back(vendor_times.back() / times.back());
    }
    for (auto *v : {&ratios, &times, &vendor_times}) std::sort(v->begin(), v->end());
    us = times[7];
    vendor_us = vendor_times[7];
    std::printf(
        "%-28s %5d x %5d x %5d %s %9.1f us %6.0f TFLOP/s  cuBLAS %9.1f us  ratio %.3f  error "
        "%.1e%s\n",
        plan.name, m, n, k, transposed ? "n x k" : "k x n", us, 2.0 * m * n * k / us / 1e6,
        vendor_us, ratios[7], error, error < 2e-2 ? "" : "  WRONG");
}

}  // namespace

int main(int argc, char **argv) {
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    if (!host_supports_target_device(Target("host-cuda"))) {
        std::printf("this machine has no GPU that pipelines can run on\n");
        return 1;
    }
    std::printf("%s\n", bench::name_of_card().c_str());
    Buffer<float> first(32);
    first.device_malloc(get_device_interface_for_device_api(DeviceAPI::CUDA, Target("host-cuda")));
    auto set_current = Clock::symbol<int (*)(void *)>("cuCtxSetCurrent");
    auto retain = Clock::symbol<int (*)(void **, int)>("cuDevicePrimaryCtxRetain");
    void *context = nullptr;
    retain(&context, 0);
    set_current(context);
    Cublas cublas;
    Clock clock;
    std::vector<int> sizes = {512, 2048, 4096, 8192};
    if (argc > 1) {
        sizes.clear();
        for (int i = 1; i < argc; i++) sizes.push_back(int(std::strtol(argv[i], nullptr, 10)));
    }
    for (int size : sizes) {
        for (bool transposed : {true, false}) {
            for (const Plan &plan : plans) {
                try {
                    row(plan, size, size, size, transposed, cublas, clock);
                } catch (const std::exception &e) {
                    std::printf("%-28s %d: %s\n", plan.name, size, e.what());
                }
            }
        }
    }
    return 0;
}
