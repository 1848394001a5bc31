#include "cpu/measure.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <thread>

namespace tessera::bench {

namespace {

double now() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * double(t.tv_sec) + 1e-6 * double(t.tv_nsec);
}

double processor_time() {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e3 * double(t.tv_sec) + 1e-6 * double(t.tv_nsec);
}

struct Sampled {
    const Implementation *of;
    int calls = 1;              // in a sample
    std::vector<double> times;  // milliseconds of one call, per round
    double elapsed = 0, worked = 0;
    double off = 0;
};

constexpr double least_sample = 2;  // milliseconds: below that, a sample is several calls

double median(std::vector<double> v) {
    std::sort(v.begin(), v.end());
    return v.size() % 2 ? v[v.size() / 2] : (v[v.size() / 2 - 1] + v[v.size() / 2]) / 2;
}

// Returns how many calls make a sample, from the second and third call.
int calls_of(const Implementation &i) {
    i.run();
    const double start = now();
    i.run();
    const double one = std::max(now() - start, 1e-5);
    return int(std::clamp(std::ceil(least_sample / one), 1.0, 1e5));
}

// Waits until the threads of the implementation before sleep: those of OpenMP spin for tens of ms,
// OpenBLAS's for 130. The work of other threads is known at the ticks of the system's clock only,
// up to 10 ms apart: a look is longer.
void wait_until_quiet() {
    constexpr int most_looks = 50;
    for (int looks = 0; looks < most_looks; looks++) {
        const double start = now(), worked = processor_time();
        std::this_thread::sleep_for(std::chrono::milliseconds(15));
        if (processor_time() - worked < 0.05 * (now() - start)) return;
    }
    std::fprintf(stderr, "other threads of this process do not go to sleep\n");
}

void sample(Sampled &s, int threads) {
    if (threads > 1) wait_until_quiet();  // none of a single one spins
    // The caches and the clock get used to this one, and the system runs its threads on processors
    // of their own.
    const double warm = now() + (threads == 1 ? 3 : 10);
    do {
        s.of->run();
    } while (now() < warm);
    const double start = now(), worked = processor_time();
    for (int i = 0; i < s.calls; i++) s.of->run();
    const double elapsed = now() - start;
    s.worked += processor_time() - worked;
    s.elapsed += elapsed;
    s.times.push_back(elapsed / s.calls);
}

}  // namespace

std::vector<Timing> measure(std::vector<Implementation> &implementations, int threads,
                            double tolerance, const Effort &effort) {
    std::vector<Sampled> all;
    Buffer<> expected;
    for (const Implementation &i : implementations) {
        try {
            wait_until_quiet();
            i.set_threads(threads);
            i.run();
            const Buffer<> result = i.result();
            if (all.empty()) expected = result;
            const double off = difference(result, expected);
            if (!(off <= tolerance)) {
                std::fprintf(stderr, "left out: %s differs from ours by %g\n", i.name.c_str(), off);
                continue;
            }
            all.push_back({&i, calls_of(i), {}, 0, 0, off});
        } catch (const std::exception &e) {
            if (all.empty()) throw;
            std::fprintf(stderr, "left out: %s: %s\n", i.name.c_str(), e.what());
        }
    }
    const double start = now();
    const double budget = 1e3 * effort.seconds * double(all.size());
    for (int round = 0; round < effort.least_rounds || now() - start < budget; round++) {
        for (size_t i = 0; i < all.size(); i++)
            sample(all[(i + size_t(round)) % all.size()], threads);
    }
    std::vector<Timing> timings;
    for (const Sampled &s : all) {
        std::vector<double> ratios;
        for (size_t r = 0; r < s.times.size(); r++) {
            ratios.push_back(s.times[r] / all[0].times[r]);
        }
        timings.push_back({s.of->name, *std::min_element(s.times.begin(), s.times.end()),
                           median(s.times), median(ratios), s.worked / s.elapsed, s.off});
    }
    return timings;
}

}  // namespace tessera::bench
