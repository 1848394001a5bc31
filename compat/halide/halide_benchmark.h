#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

// Measures how long a function takes, as Halide::Tools does.
namespace Halide::Tools {

using benchmark_now_t = std::chrono::high_resolution_clock::time_point;
inline benchmark_now_t benchmark_now() { return std::chrono::high_resolution_clock::now(); }
inline double benchmark_duration_seconds(benchmark_now_t start, benchmark_now_t end) {
    return std::max(0.0, std::chrono::duration<double>(end - start).count());
}

// The least seconds that one call takes, of `samples` runs of `iterations` calls each.
template<typename F>
double benchmark(uint64_t samples, uint64_t iterations, F &&op) {
    double best = std::numeric_limits<double>::infinity();
    for (uint64_t i = 0; i < samples; i++) {
        auto start = benchmark_now();
        for (uint64_t j = 0; j < iterations; j++) op();
        best = std::min(best, benchmark_duration_seconds(start, benchmark_now()));
    }
    return best / double(iterations);
}

constexpr uint64_t kBenchmarkMaxIterations = 1000000000;

struct BenchmarkConfig {
    double min_time{0.1};      // seconds to measure, at least
    double max_time{0.1 * 4};  // and at most, if the accuracy is not reached
    uint64_t max_iters_per_sample{kBenchmarkMaxIterations};
    double accuracy{0.03};  // how far apart the best samples may be
};

struct BenchmarkResult {
    double wall_time;  // of one call, in seconds
    uint64_t samples;
    uint64_t iterations;  // of a sample
    double accuracy;
    operator double() const { return wall_time; }
};

// Chooses samples and iterations until the best samples agree.
inline BenchmarkResult benchmark(const std::function<void()> &op,
                                 const BenchmarkConfig &config = {}) {
    BenchmarkResult result{0, 0, 0, 0};
    const double min_time = std::max(10 * 1e-6, config.min_time);
    const double max_time = std::max(min_time, config.max_time);
    const int kept = 3;
    // Calls enough for a sample to last.
    uint64_t iterations = 1;
    double one = benchmark(1, iterations, op);
    while (one * double(iterations) * kept < min_time &&
           iterations < config.max_iters_per_sample) {
        double wanted = min_time / std::max(one * kept, 1e-9);
        double next = std::max(std::min(wanted, 10.0 * double(iterations)), iterations + 1.0);
        iterations = std::min(config.max_iters_per_sample, uint64_t(next));
        one = benchmark(1, iterations, op);
    }
    std::vector<double> times;
    double total = 0;
    do {
        times.push_back(benchmark(1, iterations, op));
        total += times.back() * double(iterations);
        std::sort(times.begin(), times.end());
        result.samples++;
        size_t last = std::min(times.size(), size_t(kept)) - 1;
        result.accuracy = times[0] > 0 ? times[last] / times[0] - 1 : 0;
    } while (times.size() < size_t(kept) || total < min_time ||
             (result.accuracy > config.accuracy && total < max_time));
    result.iterations = iterations;
    result.wall_time = times[0];
    return result;
}

}  // namespace Halide::Tools
