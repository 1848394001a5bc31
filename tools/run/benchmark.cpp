#include "benchmark.h"
#include <algorithm>
#include <chrono>
#include <limits>

namespace tessera::run {
namespace {

// The time of a sample, in seconds: long beside what reading the clock costs, short beside
// min_time.
constexpr double sample_time = 0.001;

double seconds_of(const std::function<void()> &f, int64_t iterations) {
    auto start = std::chrono::steady_clock::now();
    for (int64_t i = 0; i < iterations; i++) f();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

BenchmarkResult benchmark(const std::function<void()> &f, const BenchmarkLimits &limits) {
    BenchmarkResult result;
    result.best_time = std::numeric_limits<double>::infinity();
    double total = 0;
    int64_t iterations = 1;
    while (result.iterations < limits.max_iterations &&
           (result.samples == 0 || total < limits.min_time ||
            result.iterations < limits.min_iterations)) {
        iterations = std::min(iterations, limits.max_iterations - result.iterations);
        double seconds = seconds_of(f, iterations);
        result.best_time = std::min(result.best_time, seconds / double(iterations));
        result.samples++;
        result.iterations += iterations;
        total += seconds;
        if (seconds < sample_time) iterations *= 2;
    }
    return result;
}

}  // namespace tessera::run
