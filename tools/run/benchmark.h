#pragma once
#include <cstdint>
#include <functional>

namespace tessera::run {

struct BenchmarkLimits {
    double min_time;  // in seconds, of all iterations
    int64_t min_iterations, max_iterations;
};

struct BenchmarkResult {
    double best_time = 0;  // of an iteration, in seconds
    int64_t samples = 0, iterations = 0;
};

// Runs `f` in samples, each of so many iterations that the clock can tell its time, until there
// have been enough.
BenchmarkResult benchmark(const std::function<void()> &f, const BenchmarkLimits &limits);

}  // namespace tessera::run
