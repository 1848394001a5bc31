// Measures how good the schedules of autoschedulers are, beside those that the apps have:
// README.md.
#include "autoscheduler/blas.h"
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
    bool operators = false, constants = false, estimates = false;
    int trials = 64;     // of operators
    double limit = 1e9;  // seconds that a search may take
    std::string blas, peers;
};

// "tessera:200": 200 trials.
AutoschedulerParams params_of(const std::string &name, const Options &options) {
    const size_t colon = name.find(':');
    const std::string threads = std::to_string(options.threads);
    if (colon == std::string::npos) return {name, {{"parallelism", threads}}};
    return {name.substr(0, colon),
            {{"trials", name.substr(colon + 1)},
             {"seconds", std::to_string(options.limit)},
             {"parallelism", threads}}};
}

// Adds what others make of the problem: a library, and other compilers.
void add_others(const std::shared_ptr<Data> &data, const Options &options,
                std::vector<Implementation> &all) {
    for (Implementation &i : blas_implementations(data, options.blas)) all.push_back(std::move(i));
    if (options.peers.empty()) return;
    for (Implementation &i : peer_implementations(data, options.peers)) all.push_back(std::move(i));
}

// Sums up how much faster than the app's own schedule each one was, over all cases.
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
            implementations.push_back(tessera_implementation(data, params_of(name, options)));
            implementations.back().name = name;
            search[name] = seconds_since(begin);
        } catch (const CompileError &e) {
            std::printf("%-22s %-20s %s: %s\n", problem.name.c_str(), problem.size.c_str(),
                        name.c_str(), e.what());
        }
    }
    add_others(data, options, implementations);
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

autoscheduler::SearchResult
search_for(const autoscheduler::TuningProblem &problem, const Options &options,
           std::function<bool(const autoscheduler::Sketch &)> takes = {}) {
    autoscheduler::SearchOptions of_search;
    of_search.takes = std::move(takes);
    of_search.trials = options.trials;
    of_search.seconds = options.limit;
    of_search.measure.threads = options.threads;
    return autoscheduler::search(problem.workload, problem.machine, of_search);
}

// Prints what an operator comes to: by rules, by the model alone, and measured; and what the
// machine could do.
void run_operator(const Operator &op, const Options &options) {
    using namespace autoscheduler;
    const Target target = get_host_target();
    const TuningProblem problem(op.make(), target, this_machine(target, options.threads));
    const auto begin = std::chrono::steady_clock::now();
    const SearchResult found = search_for(problem, options);
    const double spent = seconds_since(begin);
    const double rules = found.trials.empty() ? 0 : found.trials[0].times().counted();
    const double least = milliseconds_at_least(problem.graph, problem.machine);
    std::printf("%-10s %-32s %10.4f %10.4f %8.1f %7.2f  %6.1f s %4zu\n", op.name.c_str(),
                op.shape.c_str(), rules, found.milliseconds,
                op.operations / found.milliseconds / 1e6, least / found.milliseconds, spent,
                found.trials.size());
    std::fflush(stdout);
}

void run_operators(const Options &options) {
    std::printf("%-10s %-32s %10s %10s %8s %7s  %8s %4s\n", "operator", "shape x batch", "rules ms",
                "best ms", "GFLOP/s", "limit", "search", "trials");
    const std::regex filter(options.filter);
    for (const Operator &op : operators()) {
        if (std::regex_search(op.name + " " + op.shape, filter)) run_operator(op, options);
    }
}

bool copies_a_buffer(const autoscheduler::Sketch &sketch) {
    return std::ranges::any_of(sketch.graph->structure, [](const program::Step &step) {
        const auto *s = std::get_if<program::StageStep>(&step.what);
        return s && std::holds_alternative<program::CopyInput>(s->written.directive);
    });
}

// The least times of what reads its weights as they are, and of what makes a copy of them.
void run_with_constants(const Options &options) {
    std::printf("%-10s %-32s %12s %12s %7s\n", "operator", "shape x batch", "as it is ms",
                "copied ms", "speed");
    for (const Operator &op : operators_of_constants()) {
        const Target target = get_host_target();
        const autoscheduler::TuningProblem problem(
            op.make(), target, autoscheduler::this_machine(target, options.threads));
        const auto least = [&](bool copies) {
            return search_for(
                       problem, options,
                       [&](const autoscheduler::Sketch &s) { return copies_a_buffer(s) == copies; })
                .milliseconds;
        };
        const double as_it_is = least(false), copied = least(true);
        std::printf("%-10s %-32s %12.4f %12.4f %7.3f\n", op.name.c_str(), op.shape.c_str(),
                    as_it_is, copied, as_it_is / copied);
        std::fflush(stdout);
    }
}

// Prints what the rules come to without compiling anything: the least estimated time, and the work.
void estimate_by_rules(const Pipeline &pipeline, const Target &target, const Problem &problem,
                       const Options &options) {
    using namespace autoscheduler;
    const auto begin = std::chrono::steady_clock::now();
    const TuningProblem tuned(pipeline, target, known_machine(target, options.threads));
    const std::vector<Sketch> sketches =
        make_sketches(tuned.algorithm, tuned.graph.by_hand, tuned.machine);
    double least = 1e300, code = 0;
    size_t plans = 0, stages = 0;
    for (const Sketch &s : sketches) {
        PlanCosts costs(*s.graph, tuned.machine);
        const SimpleResult simple = schedule_simply(*s.graph, tuned.machine, costs);
        if (simple.cycles < least) {
            least = simple.cycles;
            const std::optional<Cost> cost = costs.cost(simple.plan);
            code = cost ? cost->code : 0;
        }
        plans += costs.plans();
        stages += costs.estimated_stages();
    }
    std::printf("%-22s %-20s %9zu %8zu %9zu %9zu %12.4f %9.0f %8.2f s\n", problem.name.c_str(),
                problem.size.c_str(), tuned.graph.functions.size(), sketches.size(), plans, stages,
                least / cycles_per_millisecond, code, seconds_since(begin));
    std::fflush(stdout);
}

void run_estimates(const Options &options) {
    std::printf("%-22s %-20s %9s %8s %9s %9s %12s %9s %8s\n", "case", "size", "functions",
                "sketches", "plans", "stages", "estimate ms", "code", "time");
    const std::regex filter(options.filter);
    for (const Problem &problem : problems()) {
        if (!std::regex_search(problem.name + " " + problem.size, filter)) continue;
        Pipeline::add_autoscheduler(
            "estimates",
            [&](const Pipeline &p, const Target &t, const AutoschedulerParams &,
                AutoSchedulerResults *) { estimate_by_rules(p, t, problem, options); });
        pipeline_of(problem, {"estimates", {}});
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
    app.add_flag("--constants", options.constants,
                 "layers whose weights are constants: with a copy of them, and without");
    app.add_flag("--estimates", options.estimates,
                 "what the rules estimate for the apps, and how long they take: nothing is run");
    app.add_option("--trials", options.trials, "of an operator's search");
    app.add_option("--limit", options.limit, "seconds after which a search ends");
    app.add_option("--blas", options.blas, "a shared library with cblas_sgemm, timed beside");
    app.add_option("--peers", options.peers, "a file that names libraries, as for bench_cpu");
    CLI11_PARSE(app, argc, argv);
    try {
        if (options.estimates) {
            run_estimates(options);
        } else if (options.operators) {
            run_operators(options);
        } else if (options.constants) {
            run_with_constants(options);
        } else {
            run(options);
        }
    } catch (const std::exception &e) {
        std::cerr << "bench_autoscheduler: " << e.what() << '\n';
        return 1;
    }
    return 0;
}
