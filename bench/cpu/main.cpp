// Measures how fast compiled pipelines are, beside other libraries and compilers: README.md.
#include "cpu/implementation.h"
#include "cpu/machine_limits.h"
#include "cpu/measure.h"
#include "cpu/problems.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <regex>
#include <unistd.h>

using namespace tessera;
using namespace tessera::bench;

namespace {

struct Options {
    std::string filter, json, peers;
    std::vector<int> threads = {1, 2};
    bool quick = false, list = false;
    double seconds = 0;
};

// One line of the table.
struct Row {
    const Problem *problem = nullptr;
    int threads = 0;
    std::vector<Timing> timings;  // ours first
    double limit = 0;             // milliseconds
    std::vector<Timing> fewer;    // with as few threads as were measured

    // Returns how many times as fast it is as with fewer threads; 0 if that is not known.
    double speed_up(const Timing &t) const {
        auto before = std::ranges::find(fewer, t.name, &Timing::name);
        return before == fewer.end() ? 0 : before->best / t.best;
    }
    // The peer that is fastest compared with ours; null without one.
    const Timing *best_peer() const {
        auto best = std::min_element(timings.begin() + 1, timings.end(),
                                     [](auto &a, auto &b) { return a.ratio < b.ratio; });
        return best == timings.end() ? nullptr : &*best;
    }
};

Row measure_row(const Problem &problem, int threads, std::vector<Implementation> &implementations,
                double bytes, const Limits &limits, const Options &options) {
    Effort effort{options.quick ? 0.05 : 2.0, options.quick ? 2 : 7};
    if (options.seconds > 0) effort.seconds = options.seconds;
    Row row;
    row.problem = &problem;
    row.threads = threads;
    row.timings = measure(implementations, threads, problem.tolerance, effort);
    row.limit = limits.milliseconds(problem.operations, problem.arithmetic, bytes);
    return row;
}

void print_heading() {
    std::printf("%-22s %-20s %3s %10s %10s %7s %6s  %-24s %10s %7s %5s  %8s %6s\n", "case", "size",
                "thr", "best ms", "median", "limit", "of it", "best peer", "best ms", "ratio",
                "bar", "speed-up", "peer's");
}

void print(const Row &row) {
    const Timing &ours = row.timings[0], *peer = row.best_peer();
    std::printf("%-22s %-20s %3d %10.4f %10.4f %7.3f %5.0f%%", row.problem->name.c_str(),
                row.problem->size.c_str(), row.threads, ours.best, ours.median, row.limit,
                100 * row.limit / ours.best);
    if (peer) {
        std::printf("  %-24s %10.4f %7.3f %5.2f%s", peer->name.c_str(), peer->best, peer->ratio,
                    row.problem->bar, peer->ratio < row.problem->bar ? " *" : "  ");
    } else {
        std::printf("%61s", "");
    }
    if (!row.fewer.empty()) std::printf("%7.2f", row.speed_up(ours));
    if (!row.fewer.empty() && peer) std::printf(" %6.2f", row.speed_up(*peer));
    std::printf("\n");
    std::fflush(stdout);
}

nlohmann::json to_json(const Row &row) {
    nlohmann::json all = nlohmann::json::array();
    for (const Timing &t : row.timings) {
        all.push_back({{"name", t.name},
                       {"best_ms", t.best},
                       {"median_ms", t.median},
                       {"ratio", t.ratio},
                       {"busy_threads", t.busy},
                       {"speed_up", row.speed_up(t)},
                       {"difference", t.off}});
    }
    return {{"case", row.problem->name},
            {"size", row.problem->size},
            {"threads", row.threads},
            {"bar", row.problem->bar},
            {"limit_ms", row.limit},
            {"of_limit", row.limit / row.timings[0].best},
            {"times", all}};
}

nlohmann::json to_json(const Limits &limits, int threads) {
    nlohmann::json copies = nlohmann::json::array();
    for (const auto &c : limits.copies) {
        copies.push_back({{"bytes", c.bytes}, {"bytes_per_second", c.bytes_per_second}});
    }
    return {{"threads", threads},
            {"float32_per_second", limits.float32},
            {"bfloat16_per_second", limits.bfloat16},
            {"int8_per_second", limits.int8},
            {"copies", copies}};
}

void print(const Limits &limits, int threads) {
    std::printf("%d %s: %.0f GFLOP/s of float32, %.0f of bfloat16, %.0f GOP/s of int8; copies",
                threads, threads == 1 ? "thread" : "threads", limits.float32 / 1e9,
                limits.bfloat16 / 1e9, limits.int8 / 1e9);
    const char *separator = ": ";
    for (const auto &c : limits.copies) {
        std::printf("%s%.0f GB/s of %.3g MB", separator, c.bytes_per_second / 1e9, c.bytes / 1e6);
        separator = ", ";
    }
    std::printf("\n");
    std::fflush(stdout);
}

// Throws std::runtime_error if there is none.
std::vector<Problem> asked_for(const Options &options) {
    const std::regex filter(options.filter);
    std::vector<Problem> all = problems();
    std::erase_if(all, [&](const Problem &p) {
        return !std::regex_search(p.name + " " + p.size, filter) || (options.quick && !p.quick);
    });
    if (all.empty()) throw std::runtime_error("no case matches \"" + options.filter + "\"");
    return all;
}

void run(const Options &options) {
    const std::vector<Problem> cases = asked_for(options);
    if (!std::filesystem::exists(options.peers)) {
        std::fprintf(stderr, "without Halide: %s is not built\n", options.peers.c_str());
    }
    std::map<int, Limits> limits;
    nlohmann::json file;
    for (int threads : options.threads) {
        limits[threads] = measure_limits(threads);
        print(limits[threads], threads);
        file["machine"].push_back(to_json(limits[threads], threads));
    }
    print_heading();
    for (const Problem &problem : cases) {
        auto data = std::make_shared<Data>(problem);
        std::vector<Implementation> implementations = {tessera_implementation(data)};
        for (auto &i : library_implementations(data)) implementations.push_back(std::move(i));
        for (auto &i : peer_implementations(data, options.peers)) {
            implementations.push_back(std::move(i));
        }
        std::vector<Timing> fewer;
        for (int threads : options.threads) {
            Row row = measure_row(problem, threads, implementations, data->bytes(), limits[threads],
                                  options);
            row.fewer = fewer;
            if (fewer.empty()) fewer = row.timings;
            print(row);
            file["rows"].push_back(to_json(row));
        }
    }
    if (!options.json.empty()) std::ofstream(options.json) << file.dump(1) << "\n";
}

// Some libraries read these when they are loaded, so the program starts itself again. OpenBLAS
// takes a CPU that it does not know for one without AVX-512.
void set_environment(char **argv) {
    if (std::getenv("TESSERA_BENCH_STARTED")) return;
    setenv("TESSERA_BENCH_STARTED", "1", 1);
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) setenv("OPENBLAS_CORETYPE", "SkylakeX", 0);
#endif
    execv("/proc/self/exe", argv);
}

}  // namespace

int main(int argc, char **argv) {
    set_environment(argv);
    Options options;
    // The build of the peers writes the list beside this program.
    options.peers = std::filesystem::read_symlink("/proc/self/exe").replace_filename("peers.txt");
    CLI::App app{"Times of compiled pipelines beside those of other libraries and compilers."};
    app.add_option("--filter", options.filter, "a regex: the cases whose name and size it matches");
    app.add_option("--json", options.json, "a file to write all times to");
    app.add_option("--threads", options.threads, "how many, as in 1,2 (the default)")
        ->check(CLI::Range(1, 1024))
        ->delimiter(',');
    app.add_option("--peers", options.peers, "a file that lists shared libraries of peers");
    app.add_option("--seconds", options.seconds, "for each implementation of a case (2)");
    app.add_flag("--quick", options.quick, "few rounds of the smaller cases: under three minutes");
    app.add_flag("--list", options.list, "print the names of the cases");
    CLI11_PARSE(app, argc, argv);
    try {
        if (options.list) {
            for (const Problem &p : asked_for(options))
                std::cout << p.name << " " << p.size << "\n";
            return 0;
        }
        run(options);
    } catch (const std::exception &e) {
        std::fprintf(stderr, "bench_cpu: %s\n", e.what());
        return 1;
    }
    return 0;
}
