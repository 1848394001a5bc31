// How good the schedules of autoschedulers are, beside those that the apps have: README.md.
#include "autoscheduler/operators.h"
#include "cpu/implementation.h"
#include "cpu/measure.h"
#include "cpu/problems.h"

#include <autoscheduler/machine_probe.h>
#include <autoscheduler/search.h>
#include <autoscheduler/tuning_problem.h>

#include <CLI/CLI.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <regex>
#include <thread>

using namespace tessera;
using namespace tessera::bench;

namespace {

struct Options {
    std::string filter;
    std::vector<std::string> schedulers = {"simple"};
    int threads = int(std::max(1U, std::thread::hardware_concurrency()));
    double seconds = 1;
    bool operators = false;
    int trials = 64;  // of operators
};

// "tessera:200": 200 trials.
AutoschedulerParams params_of(const std::string &name) {
    const size_t colon = name.find(':');
    if (colon == std::string::npos) return AutoschedulerParams(name);
    return {name.substr(0, colon), {{"trials", name.substr(colon + 1)}}};
}

// How much faster than the app's own schedule each one was, over all cases.
class Summary {
public:
    void add(const std::string &name, double ratio) {
        auto &[sum, count] = of[name];
        sum += std::log(ratio);
        count++;
    }
    void print() const {
        for (const auto &[name, all] : of) {
            std::printf("%-40s %zu cases, geometric mean %.3f of the app's speed\n", name.c_str(),
                        all.second, std::exp(all.first / double(all.second)));
        }
    }

private:
    std::map<std::string, std::pair<double, size_t>> of;
};

double seconds_since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void run_case(const Problem &problem, const Options &options, Summary &summary) {
    auto data = std::make_shared<Data>(problem);
    std::vector<Implementation> implementations = {tessera_implementation(data)};
    std::map<std::string, double> search;
    for (const std::string &name : options.schedulers) {
        const auto begin = std::chrono::steady_clock::now();
        try {
            implementations.push_back(tessera_implementation(data, params_of(name)));
            search[implementations.back().name] = seconds_since(begin);
        } catch (const CompileError &e) {
            std::printf("%-22s %-20s %s: %s\n", problem.name.c_str(), problem.size.c_str(),
                        name.c_str(), e.what());
        }
    }
    const std::vector<Timing> times =
        measure(implementations, options.threads, problem.tolerance, {options.seconds, 5});
    for (size_t i = 1; i < times.size(); i++) {
        const double speed = 1 / times[i].ratio;
        std::printf("%-22s %-20s %10.4f %-28s %10.4f %7.3f  %6.1f s\n", problem.name.c_str(),
                    problem.size.c_str(), times[0].best, times[i].name.c_str(), times[i].best,
                    speed, search[times[i].name]);
        summary.add(times[i].name, speed);
    }
    std::fflush(stdout);
}

void run(const Options &options) {
    std::printf("%-22s %-20s %10s %-28s %10s %7s  %8s\n", "case", "size", "by hand ms",
                "autoscheduler", "best ms", "speed", "search");
    const std::regex filter(options.filter);
    Summary summary;
    for (const Problem &problem : problems()) {
        if (!std::regex_search(problem.name + " " + problem.size, filter)) continue;
        run_case(problem, options, summary);
    }
    summary.print();
}

// What an operator comes to: by rules, by the model alone, and measured; and what the machine could
// do.
void run_operator(const Operator &op, const Options &options) {
    using namespace autoscheduler;
    const Target target = get_host_target();
    const TuningProblem problem(op.make(), target, this_machine(target, options.threads));
    SearchOptions search_options;
    search_options.trials = options.trials;
    search_options.measure.threads = options.threads;
    const auto begin = std::chrono::steady_clock::now();
    const SearchResult found = search(problem.workload, problem.machine, search_options);
    const double spent = seconds_since(begin);
    const double rules = found.trials.empty() ? 0 : found.trials[0].measurement.milliseconds;
    const double least = milliseconds_at_least(problem.graph, problem.machine);
    std::printf("%-10s %-32s %10.4f %10.4f %8.1f %7.2f  %6.1f s\n", op.name.c_str(),
                op.shape.c_str(), rules, found.milliseconds,
                op.operations / found.milliseconds / 1e6, least / found.milliseconds, spent);
    std::fflush(stdout);
}

void run_operators(const Options &options) {
    std::printf("%-10s %-32s %10s %10s %8s %7s  %8s\n", "operator", "shape x batch", "rules ms",
                "best ms", "GFLOP/s", "limit", "search");
    const std::regex filter(options.filter);
    for (const Operator &op : operators()) {
        if (std::regex_search(op.name + " " + op.shape, filter)) run_operator(op, options);
    }
}

}  // namespace

int main(int argc, char **argv) {
    Options options;
    CLI::App app{"Times of automatic schedules beside those that the apps have."};
    app.add_option("--filter", options.filter, "a regex: the cases whose name and size it matches");
    app.add_option("--schedulers", options.schedulers,
                   "names, as in simple,tessera:200: so many trials")
        ->delimiter(',');
    app.add_option("--threads", options.threads, "how many; by default all");
    app.add_option("--seconds", options.seconds, "to time each schedule, about");
    app.add_flag("--operators", options.operators,
                 "Ansor's operators instead of the apps: each by a search of its own");
    app.add_option("--trials", options.trials, "of an operator's search");
    CLI11_PARSE(app, argc, argv);
    try {
        options.operators ? run_operators(options) : run(options);
    } catch (const std::exception &e) {
        std::cerr << "bench_autoscheduler: " << e.what() << '\n';
        return 1;
    }
    return 0;
}
