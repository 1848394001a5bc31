// Measures how fast the apps run on this machine's GPU with several schedules each, all compiled
// here: README.md. A schedule is first tried in a process of its own, so that a fault on the device
// ends no other.
#include "base/subprocess.h"
#include "cpu/problems.h"
#include "gpu/contender.h"
#include "gpu/schedules.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <filesystem>
#include <regex>

using namespace tessera;
using namespace tessera::bench;

namespace {

struct Options {
    std::string filter, only = ".", attempt;
    int rounds = 11, seconds = 120;
    bool list = false, trusted = false;
};

std::shared_ptr<Data> data_of(const Problem &problem) {
    // Data refers to its problem.
    auto kept = std::make_shared<std::pair<Problem, std::optional<Data>>>(problem, std::nullopt);
    kept->second.emplace(kept->first);
    return {kept, &*kept->second};
}

std::string title_of(const Problem &p) { return p.name + " " + p.size; }

// Says why the schedule cannot be used; empty if it can.
std::string failure_of(const Problem &problem, const std::string &schedule, int seconds) {
    const std::string self = std::filesystem::read_symlink("/proc/self/exe");
    const ProcessResult result = run_process({"timeout", "-k", "5", std::to_string(seconds), self,
                                              "--try", schedule, "--filter", title_of(problem)});
    if (result.code == 0) return "";
    std::string said = result.output;
    while (!said.empty() && said.back() == '\n') said.pop_back();
    if (said.empty()) said = "ended with " + std::to_string(result.code);
    return said;
}

// In the process of its own: prints why it cannot be used.
int attempt(const Problem &problem, const std::string &schedule) {
    try {
        const Buffer<> expected = expected_result(data_of(problem));
        const Contender ours = tessera_on_gpu(data_of(with_schedule(problem, schedule)));
        check_result(ours, expected, problem.tolerance);
        return 0;
    } catch (const std::exception &e) {
        std::printf("%s\n", e.what());
        return 1;
    }
}

void print_failed(const std::string &schedule, const std::string &why) {
    std::printf("    %-42s left out: %s\n", schedule.c_str(), why.c_str());
}

bool run(const Problem &problem, const std::vector<std::string> &schedules,
         const Options &options) {
    std::printf("%s\n", title_of(problem).c_str());
    std::vector<Contender> contenders;
    for (const std::string &schedule : schedules) {
        try {
            const std::string why =
                options.trusted ? "" : failure_of(problem, schedule, options.seconds);
            if (!why.empty()) throw std::runtime_error(why);
            contenders.push_back(tessera_on_gpu(data_of(with_schedule(problem, schedule))));
            contenders.back().name = schedule;
        } catch (const std::exception &e) {
            print_failed(schedule, e.what());
        }
    }
    if (contenders.empty()) return false;
    const auto data = data_of(problem);
    const Tolerance tolerance{problem.tolerance, problem.tolerance};
    for (const GpuTiming &t : measure_on_gpu(contenders, copy_on_gpu(data), expected_result(data),
                                             tolerance, options.rounds)) {
        if (!t.failure.empty())
            print_failed(t.name, t.failure);
        else
            std::printf("    %-42s %10.1f %8.2f\n", t.name.c_str(), t.microseconds, t.ratio);
    }
    return true;
}

int run_all(const std::vector<Problem> &all, const Options &options) {
    const std::regex filter(options.filter), only(options.only);
    int failed = 0;
    if (!options.list && options.attempt.empty())
        std::printf("%-46s %10s %8s\n", "", "us", "ratio");
    for (const Problem &problem : all) {
        const std::string title = title_of(problem);
        std::vector<std::string> schedules = schedules_of(problem, all);
        if (!options.attempt.empty()) {
            if (title == options.filter) return attempt(problem, options.attempt);
            continue;
        }
        if (schedules.size() == 1 || !std::regex_search(title, filter)) continue;
        std::erase_if(schedules, [&](const std::string &schedule) {
            return schedule != problem.generator && !std::regex_search(schedule, only);
        });
        if (options.list) {
            for (const std::string &schedule : schedules)
                std::printf("%s: %s\n", title.c_str(), schedule.c_str());
        } else if (!run(problem, schedules, options)) {
            failed = 1;
        }
    }
    return failed;
}

}  // namespace

int main(int argc, char **argv) {
    Options options;
    CLI::App app{"Times of the apps on a GPU with several schedules: ratios are to the app's own."};
    app.add_option("--filter", options.filter, "a regex: the cases whose name and size it matches");
    app.add_option("--only", options.only, "a regex: the schedules, beside the app's own");
    app.add_option("--rounds", options.rounds, "in which all take turns (11)");
    app.add_option("--seconds", options.seconds, "in which a schedule is tried (120)");
    app.add_option("--try", options.attempt, "run one schedule of the case --filter once")
        ->group("");
    app.add_flag("--trusted", options.trusted, "do not try schedules in processes of their own");
    app.add_flag("--list", options.list, "print the schedules, and do nothing");
    CLI11_PARSE(app, argc, argv);
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    if (!options.list && !host_supports_target_device(Target("host-cuda"))) {
        std::printf("this machine has no GPU that pipelines can run on\n");
        return 1;
    }
    return run_all(problems(), options);
}
