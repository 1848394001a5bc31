#include "cpu/machine_limits.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tessera::bench {

namespace {

using Clock = std::chrono::steady_clock;

// Keeps a result from being dropped as unused.
template<typename T>
void keep(T &value) {
    asm volatile("" : : "g"(&value) : "memory");
}

// The best rate of `work(thread)`, which returns what it has done, on all threads at once: from
// when the first begins until the last ends.
double best_rate(int threads, const std::function<double(int)> &work) {
    struct Part {
        Clock::time_point start, end;
        double done;
    };
    double best = 0;
    for (int repeat = 0; repeat < 7; repeat++) {
        std::barrier begin(threads);
        std::vector<Part> parts(static_cast<size_t>(threads));
        std::vector<std::thread> all;
        for (int t = 0; t < threads; t++) {
            all.emplace_back([&, t] {
                begin.arrive_and_wait();
                Part &part = parts[size_t(t)];
                part.start = Clock::now();
                part.done = work(t);
                part.end = Clock::now();
            });
        }
        for (std::thread &t : all) t.join();
        Part whole = parts[0];
        for (size_t t = 1; t < parts.size(); t++) {
            whole.start = std::min(whole.start, parts[t].start);
            whole.end = std::max(whole.end, parts[t].end);
            whole.done += parts[t].done;
        }
        const double seconds = std::chrono::duration<double>(whole.end - whole.start).count();
        best = std::max(best, whole.done / seconds);
    }
    return best;
}

#if defined(__x86_64__)

constexpr int chains = 16;  // independent, to cover the latency of 4 cycles on two units
constexpr int64_t steps = 2'000'000;

[[gnu::target("avx512f")]] double float32_avx512(int) {
    __m512 sums[chains], a = _mm512_set1_ps(0.999f), b = _mm512_set1_ps(1e-3f);
    for (auto &s : sums) s = a;
    for (int64_t i = 0; i < steps; i++) {
#pragma GCC unroll 16
        for (int c = 0; c < chains; c++) sums[c] = _mm512_fmadd_ps(sums[c], a, b);
    }
    keep(sums);
    return double(steps) * chains * 32;
}

[[gnu::target("avx2,fma")]] double float32_avx2(int) {
    __m256 sums[12], a = _mm256_set1_ps(0.999f), b = _mm256_set1_ps(1e-3f);
    for (auto &s : sums) s = a;
    for (int64_t i = 0; i < steps; i++) {
#pragma GCC unroll 12
        for (int c = 0; c < 12; c++) sums[c] = _mm256_fmadd_ps(sums[c], a, b);
    }
    keep(sums);
    return double(steps) * 12 * 16;
}

[[gnu::target("avx512f,avx512vnni")]] double int8_vnni(int) {
    __m512i sums[chains], a = _mm512_set1_epi8(3), b = _mm512_set1_epi8(5);
    for (auto &s : sums) s = a;
    for (int64_t i = 0; i < steps; i++) {
#pragma GCC unroll 16
        for (int c = 0; c < chains; c++) sums[c] = _mm512_dpbusd_epi32(sums[c], a, b);
    }
    keep(sums);
    return double(steps) * chains * 128;
}

[[gnu::target("avx512f,avx512bf16")]] double bfloat16_dot(int) {
    __m512 sums[chains];
    for (auto &s : sums) s = _mm512_set1_ps(1);
    __m512bh a{}, b{};
    for (int64_t i = 0; i < steps; i++) {
#pragma GCC unroll 16
        for (int c = 0; c < chains; c++) sums[c] = _mm512_dpbf16_ps(sums[c], a, b);
    }
    keep(sums);
    return double(steps) * chains * 64;
}

void measure_arithmetic(Limits &limits, int threads) {
    if (__builtin_cpu_supports("avx512f"))
        limits.float32 = best_rate(threads, float32_avx512);
    else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        limits.float32 = best_rate(threads, float32_avx2);
    if (__builtin_cpu_supports("avx512vnni")) limits.int8 = best_rate(threads, int8_vnni);
    if (__builtin_cpu_supports("avx512bf16")) limits.bfloat16 = best_rate(threads, bfloat16_dot);
}

// Past the caches, which would be read first and have to be written back.
[[gnu::target("avx2")]] void copy_streaming(char *to, const char *from, size_t bytes) {
    for (size_t i = 0; i < bytes; i += 32) {
        const __m256i v = _mm256_load_si256(reinterpret_cast<const __m256i *>(from + i));
        _mm256_stream_si256(reinterpret_cast<__m256i *>(to + i), v);
    }
    _mm_sfence();
}
bool has_streaming() { return __builtin_cpu_supports("avx2"); }

#else

void measure_arithmetic(Limits &, int) {}
void copy_streaming(char *to, const char *from, size_t bytes) { std::memcpy(to, from, bytes); }
bool has_streaming() { return false; }

#endif

struct Free {
    void operator()(char *p) const { std::free(p); }
};
using Memory = std::unique_ptr<char[], Free>;

Memory allocate(size_t bytes) {
    Memory m(static_cast<char *>(std::aligned_alloc(4096, bytes)));
    std::memset(m.get(), 1, bytes);
    return m;
}

// Returns the bandwidth of copies whose source and target together have so many bytes, over all
// threads.
double copy_bandwidth(int threads, size_t bytes) {
    const size_t part = bytes / 2 / size_t(threads) / 4096 * 4096;
    const int times = int(std::max<size_t>(1, (size_t(64) << 20) / bytes));
    std::vector<Memory> from, to;
    for (int t = 0; t < threads; t++) {
        from.push_back(allocate(part));
        to.push_back(allocate(part));
    }
    auto copy_with = [&](auto copy) {
        return best_rate(threads, [&](int t) {
            for (int i = 0; i < times; i++) {
                copy(to[size_t(t)].get(), from[size_t(t)].get(), part);
                keep(to);
            }
            return 2.0 * double(part) * times;
        });
    };
    double best = copy_with([](char *a, const char *b, size_t n) { std::memcpy(a, b, n); });
    if (has_streaming()) best = std::max(best, copy_with(copy_streaming));
    return best;
}

}  // namespace

double Limits::operations_per_second(Arithmetic arithmetic) const {
    return arithmetic == Arithmetic::Int8       ? int8
           : arithmetic == Arithmetic::BFloat16 ? bfloat16
                                                : float32;
}

double Limits::milliseconds(double operations, Arithmetic arithmetic, double bytes) const {
    const double rate = operations_per_second(arithmetic);
    const double computing = rate > 0 ? operations / rate : 0;
    // Between two sizes, by the logarithm.
    double bandwidth = copies.front().bytes_per_second;
    for (size_t i = 1; i < copies.size(); i++) {
        const Bandwidth &a = copies[i - 1], &b = copies[i];
        const double part =
            std::clamp(std::log(bytes / a.bytes) / std::log(b.bytes / a.bytes), 0.0, 1.0);
        if (part > 0)
            bandwidth = a.bytes_per_second + part * (b.bytes_per_second - a.bytes_per_second);
    }
    return 1e3 * std::max(computing, bytes / bandwidth);
}

Limits measure_limits(int threads) {
    Limits limits;
    measure_arithmetic(limits, threads);
    for (int shift : {16, 18, 20, 22, 24, 25, 26, 28}) {
        const size_t bytes = size_t(threads) << shift;
        limits.copies.push_back({double(bytes), copy_bandwidth(threads, bytes)});
    }
    return limits;
}

}  // namespace tessera::bench
