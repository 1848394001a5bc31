#include "gpu/contender.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <stdexcept>

namespace tessera::bench {

namespace {

constexpr double least_sample = 4000;  // microseconds of calls in a row
constexpr int most_calls = 400;

double now() {
    using namespace std::chrono;
    return duration<double, std::micro>(steady_clock::now().time_since_epoch()).count();
}

struct Sampled {
    const Contender *of;
    double off = 0;
    int calls = 1;
    std::vector<double> times;

    double sample() const {
        of->run();
        of->wait();
        const double begin = now();
        for (int i = 0; i < calls; i++) of->run();
        of->wait();
        return (now() - begin) / calls;
    }
};

double median(std::vector<double> v) {
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
}

Sampled sampled(const Contender &c) {
    Sampled s{&c, 0, 3, {}};
    s.calls = std::clamp(int(least_sample / s.sample()), 3, most_calls);
    return s;
}

Sampled checked(const Contender &c, const Buffer<> &expected, double tolerance) {
    const double off = check_result(c, expected, tolerance);
    Sampled s = sampled(c);
    s.off = off;
    return s;
}

}  // namespace

double check_result(const Contender &contender, const Buffer<> &expected, double tolerance) {
    contender.run();
    contender.wait();
    const double off = difference(contender.result(), expected);
    if (!(off <= tolerance))
        throw std::runtime_error("the result differs by " + std::to_string(off));
    return off;
}

std::vector<GpuTiming> measure_on_gpu(const std::vector<Contender> &contenders,
                                      const Contender &copy, const Buffer<> &expected,
                                      const Tolerance &tolerance, int rounds) {
    std::vector<Sampled> all;
    std::vector<GpuTiming> failed;
    for (const Contender &c : contenders) {
        try {
            const double most = all.empty() ? tolerance.ours : tolerance.peers;
            all.push_back(checked(c, expected, most));
        } catch (const std::exception &e) {
            if (all.empty()) throw;
            std::fprintf(stderr, "left out: %s: %s\n", c.name.c_str(), e.what());
            failed.push_back({.name = c.name, .failure = e.what()});
        }
    }
    all.push_back(sampled(copy));
    for (int round = 0; round < rounds; round++) {
        for (Sampled &s : all) s.times.push_back(s.sample());
    }
    std::vector<GpuTiming> timings;
    for (const Sampled &s : all) {
        std::vector<double> ratios;
        for (size_t r = 0; r < s.times.size(); r++) ratios.push_back(s.times[r] / all[0].times[r]);
        timings.push_back({s.of->name, median(s.times), median(ratios), s.off, ""});
    }
    timings.insert(timings.end(), failed.begin(), failed.end());
    return timings;
}

}  // namespace tessera::bench
