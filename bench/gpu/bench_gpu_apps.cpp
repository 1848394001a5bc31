// Measures how fast the apps run on this machine's GPU, beside programs of Halide, cuBLAS, and a
// copy by the driver of the same bytes: README.md. Ends with 1 if there is no GPU, or a result of
// ours is wrong.
#include "cpu/implementation.h"
#include "cpu/problems.h"
#include "gpu/card.h"
#include "gpu/contender.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <regex>

using namespace tessera;
using namespace tessera::bench;

namespace {

struct Options {
    std::string filter, json, peers;
    int rounds = 11;
    bool list = false, rules = false, show = false;
};

Problem square_product(int size) {
    return {.name = "sgemm",
            .size = std::to_string(size),
            .generator = "gemm",
            .own_params = size <= 1024 ? "tile=64 thread_rows=4" : "",
            .inputs = {{"a", Float(32), {size, size}}, {"b", Float(32), {size, size}}},
            .output = {"output", Float(32), {size, size}},
            .operations = 2.0 * size * size * size,
            .tolerance = 1e-4};
}

// More rows than the card's caches hold.
Problem with_many_rows(Problem p) {
    constexpr int count = 65536;
    const int width = p.output.extents[0];
    p.inputs[0].extents = p.output.extents = {width, count};
    p.size = std::to_string(count) + "x" + std::to_string(width);
    return p;
}

bool has_rows(const Problem &p) { return p.generator == "softmax" || p.generator == "layer_norm"; }

std::vector<Problem> problems_for_gpus() {
    std::vector<Problem> all = problems();
    for (const Problem &p : problems()) {
        if (has_rows(p) && p.output.extents[0] == 1024) all.push_back(with_many_rows(p));
    }
    for (Problem &p : all) {  // lanes hold rows whose length is known
        if (has_rows(p)) p.own_params = "columns=" + std::to_string(p.output.extents[0]);
    }
    std::erase_if(all, [](const Problem &p) {
        return p.generator == "gemm" || p.generator == "widening_gemm";
    });
    for (int size : {1024, 2048, 4096}) all.push_back(square_product(size));
    return all;
}

// Halide 21 joins multiplications and additions on GPUs, those of strict_float too, which rounds
// some pixels of hist to another brightness, and places of resize by half a last digit: so far off
// are its results then (docs/gpu_notes.md).
Tolerance tolerance_of(const Problem &p) {
    if (p.generator == "hist") return {p.tolerance, 3};
    if (p.generator == "resize") return {p.tolerance, 2e-4};
    return {p.tolerance, p.tolerance};
}

std::vector<GpuTiming> run(const Problem &problem, const Options &options) {
    auto data = std::make_shared<Data>(problem);
    std::vector<Contender> contenders = {tessera_on_gpu(data)};
    if (options.rules) contenders.push_back(rules_on_gpu(data));
    for (auto &c : libraries_on_gpu(data)) contenders.push_back(std::move(c));
    for (auto &c : peers_on_gpu(data, options.peers)) contenders.push_back(std::move(c));
    return measure_on_gpu(contenders, copy_on_gpu(data), expected_result(data),
                          tolerance_of(problem), options.rounds);
}

constexpr const char *by_rules = "by rules";

std::vector<std::string> columns_for(const Options &options) {
    std::vector<std::string> columns = names_of_peers(options.peers);
    columns.insert(columns.begin(), "cuBLAS");
    if (options.rules) columns.insert(columns.begin(), by_rules);
    columns.push_back("copy");
    return columns;
}

void print_header(const std::vector<std::string> &columns) {
    std::printf("%-22s %-18s %10s", "microseconds (ratio)", "", "Tessera");
    for (const std::string &column : columns) std::printf(" %17s", column.c_str());
    std::printf("\n");
}

std::string cell_of(const std::string &column, const std::vector<GpuTiming> &timings) {
    for (const GpuTiming &t : timings) {
        if (t.name != column) continue;
        if (!t.failure.empty()) return "left out";
        char text[64];
        std::snprintf(text, sizeof text, "%.1f (%.2f)", t.microseconds, t.ratio);
        return text;
    }
    return "-";
}

void print(const Problem &problem, const std::vector<std::string> &columns,
           const std::vector<GpuTiming> &timings) {
    std::printf("%-22s %-18s %10.1f", problem.name.c_str(), problem.size.c_str(),
                timings[0].microseconds);
    for (const std::string &column : columns)
        std::printf(" %17s", cell_of(column, timings).c_str());
    std::printf("\n");
}

nlohmann::json to_json(const Problem &problem, const std::vector<GpuTiming> &timings) {
    nlohmann::json times = nlohmann::json::array();
    for (const GpuTiming &t : timings) {
        if (!t.failure.empty()) {
            times.push_back({{"name", t.name}, {"left_out", t.failure}});
            continue;
        }
        times.push_back({{"name", t.name},
                         {"median_us", t.microseconds},
                         {"ratio", t.ratio},
                         {"difference", t.off}});
    }
    return {{"case", problem.name}, {"size", problem.size}, {"times", times}};
}

// The speed of schedules by rules as a part of that of the apps' own.
class SpeedOfRules {
public:
    void add(const std::vector<GpuTiming> &timings) {
        for (const GpuTiming &t : timings) {
            if (t.name != by_rules) continue;
            const double speed = t.failure.empty() ? 1 / t.ratio : 0;
            if (t.failure.empty()) logarithms.push_back(std::log(speed));
            least = std::min(least, speed);
        }
    }
    void print() const {
        if (logarithms.empty()) return;
        double sum = 0;
        for (double l : logarithms) sum += l;
        std::printf("by rules: %.2f of the speed of the apps' schedules in geometric mean of %zu, "
                    "%.2f at least\n",
                    std::exp(sum / double(logarithms.size())), logarithms.size(), least);
    }

private:
    std::vector<double> logarithms;
    double least = 1e9;
};

int run_all(const Options &options) {
    const std::regex filter(options.filter);
    SpeedOfRules speed;
    nlohmann::json rows = nlohmann::json::array();
    int failed = 0;
    const std::vector<std::string> columns = columns_for(options);
    const std::string card = name_of_card();
    std::printf("%s\n", card.c_str());
    print_header(columns);
    for (const Problem &problem : problems_for_gpus()) {
        if (!std::regex_search(problem.name + " " + problem.size, filter)) continue;
        try {
            const std::vector<GpuTiming> timings = run(problem, options);
            print(problem, columns, timings);
            speed.add(timings);
            rows.push_back(to_json(problem, timings));
        } catch (const std::exception &e) {
            std::printf("%-22s %-18s FAILED: %s\n", problem.name.c_str(), problem.size.c_str(),
                        e.what());
            failed = 1;
        }
    }
    speed.print();
    if (!options.json.empty()) {
        const nlohmann::json all = {{"card", card}, {"cases", rows}};
        std::ofstream(options.json) << all.dump(1) << "\n";
    }
    return failed;
}

int show_schedules(const Options &options) {
    const std::regex filter(options.filter);
    setenv("TESSERA_JIT_TARGET", "host-cuda-cuda_capability_90", 1);
    for (const Problem &problem : problems_for_gpus()) {
        if (!std::regex_search(problem.name + " " + problem.size, filter)) continue;
        Data data(problem);
        const Pipeline pipeline = scheduled_pipeline(data, {"simple"});
        std::printf("%s %s\n%s\n", problem.name.c_str(), problem.size.c_str(),
                    pipeline.schedule_as_cpp().c_str());
    }
    return 0;
}

}  // namespace

int main(int argc, char **argv) {
    Options options;
    CLI::App app{"Times of the apps on a GPU, beside peers: ratios are their time over ours."};
    app.add_option("--filter", options.filter, "a regex: the cases whose name and size it matches");
    app.add_option("--json", options.json, "a file to write all times to");
    app.add_option("--peers", options.peers, "a file that lists shared libraries of peers");
    app.add_option("--rounds", options.rounds, "in which all take turns (11)");
    app.add_flag("--rules", options.rules,
                 "beside the apps' schedules, those that the autoscheduler makes by rules");
    app.add_flag(
        "--show", options.show,
        "print the schedules that are made by rules, and do nothing; there need be no GPU");
    app.add_flag("--list", options.list, "print the cases, and do nothing");
    CLI11_PARSE(app, argc, argv);
    if (options.list) {
        for (const Problem &p : problems_for_gpus())
            std::printf("%s %s\n", p.name.c_str(), p.size.c_str());
        return 0;
    }
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    if (options.show) return show_schedules(options);
    if (!host_supports_target_device(Target("host-cuda"))) {
        std::printf("this machine has no GPU that pipelines can run on\n");
        return 1;
    }
    return run_all(options);
}
