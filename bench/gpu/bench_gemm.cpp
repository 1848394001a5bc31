// Products of matrices and convolutions on tensor cores, beside cuBLASLt and cuDNN in the same
// process: their time over ours, the median of rounds in random order, each a graph of calls.
// Results are checked against sums in double precision. The libraries are opened when it runs.
#include "gpu/card.h"
#include "gpu/gemm_steps.h"
#include "gpu/graph_clock.h"
#include "gpu/in_processes.h"
#include "gpu/tensor_problem.h"
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <regex>
#include <thread>

using namespace tessera;
using namespace tessera::bench;

namespace {

struct Options {
    std::string filter = ".", ptx;
    int more = 0, rounds = 15, seconds = 60;
    bool steps = false, list = false;
};

struct Contender {
    std::string name;
    std::function<void(int set)> call;
    bool is_ours = false;
    double error = 0;
    void *graph = nullptr;
    int calls = 0;
    std::vector<double> us = {};
    double median() const {
        std::vector<double> sorted = us;
        std::sort(sorted.begin(), sorted.end());
        return sorted[sorted.size() / 2];
    }
};

// Holds the part of a row that is compiled while others run.
struct Compiled {
    std::string name;
    std::shared_future<Callable> callable;
};

// Compiles a few at a time.
class Compiler {
public:
    std::shared_future<Callable> begin(const TensorVariant &v, const Target &target) {
        const Target of_variant =
            v.is_dependent ? target.with_feature(Target::CUDADependentLaunch) : target;
        std::packaged_task<Callable()> task(
            [compile = v.compile, of_variant] { return compile(of_variant); });
        std::shared_future<Callable> result = task.get_future().share();
        std::lock_guard lock(mutex);
        tasks.push_back(std::move(task));
        if (threads.size() < std::max(2u, std::thread::hardware_concurrency()) - 1)
            threads.emplace_back([this] { work(); });
        return result;
    }
    ~Compiler() {
        {
            std::lock_guard lock(mutex);
            tasks.clear();
        }
        for (std::thread &t : threads) t.join();
    }

private:
    void work() {
        for (;;) {
            std::unique_lock lock(mutex);
            if (tasks.empty()) return;
            std::packaged_task<Callable()> task = std::move(tasks.front());
            tasks.erase(tasks.begin());
            lock.unlock();
            task();
        }
    }
    std::mutex mutex;
    std::vector<std::packaged_task<Callable()>> tasks;
    std::vector<std::thread> threads;
};

struct Libraries {
    CublasLt cublas_lt;
    Cudnn cudnn;
};

class Row {
public:
    Row(const TensorProblem &problem, const std::vector<Compiled> &ours, Libraries &libraries,
        GraphClock &clock, const Options &options)
        : problem(problem), operands(problem), clock(clock), options(options) {
        for (const Compiled &c : ours) {
            contend(c.name, true, [&]() -> std::function<void(int)> {
                const Callable callable = c.callable.get();
                return [this, callable](int set) { operands.call(callable, set); };
            });
        }
        if (problem.convolution) {
            if (libraries.cudnn.is_there()) add_cudnn(libraries.cudnn);
        } else if (libraries.cublas_lt.is_there()) {
            contend("cuBLASLt", false, [&]() -> std::function<void(int)> {
                const CublasLt::Call call = libraries.cublas_lt.prepare(problem.product);
                return [this, call](int set) { operands.call(call, set, this->clock.stream()); };
            });
        }
    }
    // Prints the row, and returns the library's time over ours: 0 if one of them has none.
    double measure() {
        if (contenders.empty()) return 0;
        keep_fast_cudnn();
        std::mt19937 random(7);
        std::vector<size_t> order;
        for (size_t i = 0; i < contenders.size(); i++) order.push_back(i);
        for (int round = 0; round < options.rounds; round++) {
            std::shuffle(order.begin(), order.end(), random);
            for (size_t i : order) {
                Contender &c = contenders[i];
                c.us.push_back(clock.microseconds(c.graph) / c.calls);
            }
        }
        const Contender *theirs = contenders.back().is_ours ? nullptr : &contenders.back();
        double first = 0;
        for (const Contender &c : contenders) {
            const double ratio = theirs && c.is_ours ? ratio_of(*theirs, c) : 0;
            std::printf("%-12s %-28s %-34s %9.2f us %6.0f T/s  %s %.1e\n", problem.name.c_str(),
                        problem.sizes().c_str(), c.name.c_str(), c.median(),
                        problem.operations() / c.median() / 1e6, ratio_text(ratio).c_str(),
                        c.error);
            if (&c == &contenders.front()) first = ratio;
        }
        for (Contender &c : contenders) clock.release(c.graph);
        return first;
    }

private:
    static std::string ratio_text(double ratio) {
        char text[32];
        std::snprintf(text, sizeof text, ratio > 0 ? "ratio %.3f" : "           ", ratio);
        return text;
    }
    static double ratio_of(const Contender &theirs, const Contender &ours) {
        std::vector<double> ratios;
        for (size_t i = 0; i < ours.us.size(); i++) ratios.push_back(theirs.us[i] / ours.us[i]);
        std::sort(ratios.begin(), ratios.end());
        return ratios[ratios.size() / 2];
    }
    // Runs it once and checks the result; what fails gets a line with the reason.
    void contend(const std::string &name, bool is_ours,
                 const std::function<std::function<void(int)>()> &prepare) {
        try {
            Contender c{name, prepare(), is_ours};
            c.call(0);
            clock.wait();
            c.error = operands.error();
            if (!(c.error < 2e-2)) {
                char text[64];
                std::snprintf(text, sizeof text, "the result is wrong: %.2e", c.error);
                throw std::runtime_error(text);
            }
            const double us = time_of(c);
            // The calls take two milliseconds together, and all sets are used equally often.
            const int sets = operands.count();
            c.calls = std::clamp(int(2000 / us) / sets * sets, sets > 8 ? sets : 2, 4 * sets + 200);
            c.graph = graph_of(c, c.calls);
            clock.microseconds(c.graph);
            if (options.more > 0)
                std::printf("  %s: %.2f us, error %.1e\n", name.c_str(), us, c.error);
            contenders.push_back(std::move(c));
        } catch (const std::exception &e) {
            std::printf("%-12s %-28s %-34s FAILED: %s\n", problem.name.c_str(),
                        problem.sizes().c_str(), name.c_str(), e.what());
            clock.wait();  // throws if nothing runs any more
        }
    }
    void *graph_of(const Contender &c, int calls) {
        return clock.capture([&] {
            for (int i = 0; i < calls; i++) c.call(i);
        });
    }
    double time_of(const Contender &c) {
        void *graph = graph_of(c, 4);
        clock.microseconds(graph);
        const double us = clock.microseconds(graph) / 4;
        clock.release(graph);
        return us;
    }
    // The plans that the library's heuristic puts first; the fastest of them stays.
    void add_cudnn(Cudnn &cudnn) {
        cudnn.set_stream(clock.stream());
        try {
            int plan = 0;
            for (const Cudnn::Call &call : cudnn.prepare(*problem.convolution, 6)) {
                contend("cuDNN, plan " + std::to_string(++plan), false,
                        [&]() -> std::function<void(int)> {
                            return [this, call](int set) { operands.call(call, set); };
                        });
            }
        } catch (const std::exception &e) {
            std::printf("%-12s %-28s FAILED: %s\n", problem.name.c_str(), problem.sizes().c_str(),
                        e.what());
        }
    }
    void keep_fast_cudnn() {
        std::optional<Contender> best;
        double least = 0;
        while (!contenders.empty() && !contenders.back().is_ours) {
            Contender c = std::move(contenders.back());
            contenders.pop_back();
            double us = 1e30;
            for (int i = 0; i < 3; i++) us = std::min(us, clock.microseconds(c.graph) / c.calls);
            if (!best || us < least) {
                best = std::move(c);
                least = us;
            }
        }
        if (best) contenders.push_back(std::move(*best));
    }

    const TensorProblem &problem;
    TensorOperands operands;
    GraphClock &clock;
    const Options &options;
    std::vector<Contender> contenders;  // ours first
};

std::vector<TensorProblem> chosen(const Options &options) {
    const std::regex filter(options.filter);
    std::vector<TensorProblem> all;
    for (const TensorProblem &p : tensor_problems())
        if (std::regex_search(p.name + " " + p.sizes() + " " + p.group, filter)) all.push_back(p);
    return all;
}

// Runs rows from `first` on in this process; `done` is told of each.
void run_rows(const std::vector<TensorProblem> &problems, int first, const Options &options,
              const std::function<void(int row, double ratio)> &done) {
    GraphClock clock;
    Libraries libraries;
    const Target target("host-cuda-cuda_capability_90");
    Compiler compiler;
    std::vector<std::vector<Compiled>> compiled;
    for (size_t i = size_t(first); i < problems.size(); i++) {
        compiled.emplace_back();
        for (const TensorVariant &v : variants_of(problems[i], options.more))
            compiled.back().push_back({v.name, compiler.begin(v, target)});
    }
    for (size_t i = size_t(first); i < problems.size(); i++) {
        Row row(problems[i], compiled[i - size_t(first)], libraries, clock, options);
        done(int(i), row.measure());
    }
}

void print_means(const std::vector<TensorProblem> &problems, const std::vector<double> &ratios) {
    std::map<std::string, std::pair<double, int>> groups;
    for (size_t i = 0; i < problems.size(); i++) {
        if (problems[i].group.empty() || ratios[i] <= 0) continue;
        groups[problems[i].group].first += std::log(ratios[i]);
        groups[problems[i].group].second++;
    }
    for (const auto &[name, sum] : groups)
        std::printf("geometric mean of %d rows, %s: %.3f\n", sum.second, name.c_str(),
                    std::exp(sum.first / sum.second));
}

// Writes the PTX of each variant, for what can be learnt of it without a GPU.
void write_ptx(const std::vector<TensorProblem> &problems, const Options &options) {
    std::filesystem::create_directories(options.ptx);
    for (size_t i = 0; i < problems.size(); i++) {
        int variant = 0;
        for (const TensorVariant &v : variants_of(problems[i], options.more)) {
            const std::string path =
                options.ptx + "/" + std::to_string(i) + "_" + std::to_string(variant++) + ".ptx";
            std::printf("%s: %s %s, %s\n", path.c_str(), problems[i].name.c_str(),
                        problems[i].sizes().c_str(), v.name.c_str());
            try {
                std::ofstream(path) << v.ptx();
            } catch (const std::exception &e) {
                std::printf("FAILED: %s\n", e.what());
            }
        }
    }
}

}  // namespace

int main(int argc, char **argv) {
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    Options options;
    CLI::App app("products of matrices and convolutions on tensor cores");
    app.add_option("--filter", options.filter, "rows whose name or sizes match");
    app.add_option("--candidates", options.more, "so many tiles besides those that are chosen");
    app.add_option("--rounds", options.rounds, "of each contender");
    app.add_option("--ptx", options.ptx, "only write the kernels to this folder");
    app.add_option("--seconds", options.seconds, "that a row may take");
    app.add_flag("--steps", options.steps, "one product, scheduled line by line");
    app.add_flag("--list", options.list, "only list the rows");
    CLI11_PARSE(app, argc, argv);
    const std::vector<TensorProblem> problems = chosen(options);
    if (options.list) {
        for (const TensorProblem &p : problems)
            std::printf("%-12s %-28s %s\n", p.name.c_str(), p.sizes().c_str(),
                        variants_of(p, 0).front().name.c_str());
        return 0;
    }
    if (!options.ptx.empty()) {
        write_ptx(problems, options);
        return 0;
    }
    if (!can_run_in_process([] { return host_supports_target_device(Target("host-cuda")); })) {
        std::printf("this machine has no GPU that pipelines can run on\n");
        return 1;
    }
    if (options.steps) return run_gemm_steps(options.rounds);
    std::vector<double> ratios(problems.size());
    run_in_processes(
        int(problems.size()), options.seconds,
        [&](int first, const std::function<void(int, double)> &done) {
            if (first == 0) std::printf("%s\n", name_of_card().c_str());
            run_rows(problems, first, options, done);
        },
        ratios);
    print_means(problems, ratios);
    return 0;
}
