// Measures how long short parallel loops take, beside OpenMP's: what threads cost to begin and to
// end.
#include "runtime/tessera_runtime.h"
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <thread>
#include <vector>

// OpenMP declares this in a header that not every compiler has.
extern "C" void omp_set_num_threads(int n);

namespace {

using Clock = std::chrono::steady_clock;
using Microseconds = std::chrono::duration<double, std::micro>;

volatile double sink;

// A chain of so many additions and products.
void work(int steps) {
    double x = 1;
    for (int i = 0; i < steps; i++) x = x * 1.0000001 + 1e-9;
    sink = x;
}

double time_of(const std::function<void()> &f) {
    const Clock::time_point start = Clock::now();
    f();
    return Microseconds(Clock::now() - start).count();
}

int run_task(void *, int, uint8_t *steps) {
    work(*reinterpret_cast<int *>(steps));
    return 0;
}

void run_pool(int tasks, int steps) {
    tessera_do_par_for(nullptr, run_task, 0, tasks, reinterpret_cast<uint8_t *>(&steps));
}

void run_openmp(int tasks, int steps) {
#pragma omp parallel for schedule(dynamic, 1)
    for (int i = 0; i < tasks; i++) work(steps);
}

// The median over rounds of the mean of loops right after one another. The threads of those before
// have gone to sleep (OpenMP's spin for up to 15 ms); these have some time to find processors of
// their own.
struct Loop {
    void (*run)(int tasks, int steps);
    std::vector<double> times;

    void sample(int tasks, int steps, int count) {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        for (int i = 0; i < count / 2; i++) run(tasks, steps);
        times.push_back(time_of([&] {
                            for (int i = 0; i < count; i++) run(tasks, steps);
                        }) /
                        count);
    }
    double median() {
        std::sort(times.begin(), times.end());
        return times[times.size() / 2];
    }
};

}  // namespace

int main(int argc, char **argv) {
    int threads = 2, rounds = 9, count = 1000;
    CLI::App app("Times of short parallel loops beside OpenMP's");
    app.add_option("--threads", threads, "how many")->check(CLI::PositiveNumber);
    app.add_option("--rounds", rounds, "of each")->check(CLI::PositiveNumber);
    app.add_option("--loops", count, "in a round")->check(CLI::PositiveNumber);
    CLI11_PARSE(app, argc, argv);

    tessera_set_num_threads(threads);
    omp_set_num_threads(threads);
    constexpr int many = 10'000'000;
    const double per_step = time_of([] { work(many); }) / many;
    std::printf("threads  tasks  of us   ideal    ours  OpenMP (us)\n");
    for (double task : {0.0, 1.0, 5.0, 20.0}) {
        for (int tasks : {threads, 4 * threads}) {
            Loop ours{run_pool, {}}, openmp{run_openmp, {}};
            const int steps = int(task / per_step);
            for (int round = 0; round < rounds; round++) {
                ours.sample(tasks, steps, count);
                openmp.sample(tasks, steps, count);
            }
            std::printf("%7d %6d %6.1f %7.1f %7.2f %7.2f\n", threads, tasks, task,
                        task * tasks / threads, ours.median(), openmp.median());
        }
    }
}
