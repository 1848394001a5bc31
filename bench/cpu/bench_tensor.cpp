// Products of matrices by tensor instructions of CPUs: GFLOP/s of one call, the best of several,
// with what packs B included. Each result is checked against sums of its own. Names of
// instructions, types, sizes and threads may be given:
//
//     bench_tensor                           all that this machine has, 1024 and 2048
//     bench_tensor amx s8 2048 16            one of them
#include "ir/instruction.h"
#include "tessera.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

using namespace tessera;

namespace {

struct Plan {
    const char *instruction, *of_target, *types;
    int rows, columns, k;  // of a Tile, and of what one operation adds to it
};
// Tiles as large as the registers hold: four of AMX beside four for operands, 24 vectors of 16
// sums.
const Plan plans[] = {
    {"amx", "tdpbssd", "s8", 32, 32, 64},   {"amx", "tdpbf16ps", "bf16", 32, 32, 32},
    {"vnni", "vpdpbusd", "u8s8", 6, 64, 4}, {"vnni", "vdpbf16ps", "bf16", 6, 64, 2},
    {"mmla", "smmla", "s8", 8, 8, 8},       {"mmla", "bfmmla", "bf16", 8, 8, 4},
    {"sdot", "sdot", "s8", 4, 16, 4},
};

struct Gemm {
    Var x{"x"}, y{"y"}, xi{"xi"}, yi{"yi"}, ki{"ki"}, panel{"panel"};
    RVar ko{"ko"}, kt{"kt"};
    ImageParam a, b;
    Func sums{"sums"}, out{"out"};

    Gemm(const Plan &p, Type of_a, Type of_b, Type of_sums, int n)
        : a(of_a, 2, "a"), b(of_b, 2, "b") {
        RDom k(0, n, "k");
        sums(x, y) += cast(of_sums, a(k, y)) * cast(of_sums, b(x, k));
        out(x, y) = sums(x, y);
        out.bound(x, 0, n).bound(y, 0, n);
        out.tile(x, y, xi, yi, p.columns, p.rows, TailStrategy::ShiftInwards);
        out.reorder({xi, yi, y, x}).parallel(x).vectorize(xi, std::min(p.columns, 16)).unroll(xi);
        out.unroll(yi);
        sums.compute_at(out, y).store_in(MemoryType::Tile);
        sums.vectorize(x, std::min(p.columns, 16)).unroll(x).unroll(y);
        sums.update().split(k, ko, kt, p.k).reorder({kt, x, y, ko});
        sums.update().tensorize(x, y, kt, TensorInstruction(p.instruction));
        Func staged = b.in();
        const Var column = staged.args()[0], row = staged.args()[1];
        const int together = 4 / of_b.bytes();
        staged.compute_at(out, x).split(row, row, ki, together);
        staged.reorder({ki, column, row}).vectorize(column, std::min(p.columns, 32)).unroll(ki);
    }
};

template<typename T> T random_value(std::mt19937 &random) {
    const int v = int(random() % 9);
    return T(float(std::is_unsigned_v<T> ? v : v - 4));
}

double seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

// Compares some rows with sums in double precision.
template<typename A, typename B, typename S>
bool is_right(const Buffer<A> &a, const Buffer<B> &b, const Buffer<S> &out, int n) {
    for (int y = 0; y < n; y += n / 16 + 1) {
        for (int x = 0; x < n; x++) {
            double sum = 0;
            for (int k = 0; k < n; k++) sum += double(float(a(k, y))) * double(float(b(x, k)));
            if (double(out(x, y)) != sum) return false;
        }
    }
    return true;
}

template<typename A, typename B, typename S>
void measure(const Plan &p, int n, int threads, const Target &target) {
    Gemm gemm(p, type_of<A>(), type_of<B>(), type_of<S>(), n);
    Buffer<A> a(n, n);
    Buffer<B> b(n, n);
    Buffer<S> out(n, n);
    std::mt19937 random(1);
    a.for_each_value([&](A &v) { v = random_value<A>(random); });
    b.for_each_value([&](B &v) { v = random_value<B>(random); });
    gemm.a.set(a);
    gemm.b.set(b);
    JITSharedRuntime::set_num_threads(threads);
    gemm.out.realize(out, target);
    const bool right = is_right(a, b, out, n);
    double best = 1e9;
    const double begin = seconds();
    for (int i = 0; i < 1000 && (i < 5 || seconds() - begin < 2); i++) {
        const double start = seconds();
        gemm.out.realize(out, target);
        best = std::min(best, seconds() - start);
    }
    std::printf("%-10s %-5s %5d %3d threads  %9.1f GFLOP/s  %8.3f ms  %s\n", p.of_target, p.types,
                n, threads, 2.0 * n * n * n / best * 1e-9, best * 1e3, right ? "right" : "WRONG");
    std::fflush(stdout);
    if (!right) std::exit(1);
}

void measure(const Plan &p, int n, int threads, const Target &target) {
    const std::string types = p.types;
    if (types == "s8")
        measure<int8_t, int8_t, int>(p, n, threads, target);
    else if (types == "u8s8")
        measure<uint8_t, int8_t, int>(p, n, threads, target);
    else
        measure<bfloat16_t, bfloat16_t, float>(p, n, threads, target);
}

}  // namespace

int main(int argc, char **argv) {
    const auto argument = [&](int i) { return argc > i ? std::string(argv[i]) : std::string(); };
    const std::string instruction = argument(1), types = argument(2), size = argument(3),
                      threads = argument(4);
    const int all = std::min(16, int(std::thread::hardware_concurrency()));
    const Target target("host-jit-no_asserts-no_bounds_query");
    bool any = false;
    for (const Plan &p : plans) {
        const auto row = ir::find_instruction(p.of_target);
        const bool is_wanted = (instruction.empty() || instruction == p.instruction) &&
                               (types.empty() || types == p.types);
        if (!is_wanted || !row->is_on(target)) continue;
        any = true;
        for (int n : {1024, 2048}) {
            if (!size.empty() && std::stoi(size) != n) continue;
            for (int t : {1, all}) {
                if (threads.empty() || std::stoi(threads) == t) measure(p, n, t, target);
            }
        }
    }
    if (!any) std::printf("this machine has none of these tensor instructions\n");
    return 0;
}
