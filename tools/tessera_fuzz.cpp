#include "base/str.h"
#include "check.h"
#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>
#include <map>
#include <optional>
#include <regex>
#include <tuple>

// Draws random pipelines and schedules, and compares what they compute in three ways, or in four.
// Prints what fails, as a small program and the seed. Ends with 1 if anything failed.
namespace {

using namespace tessera::fuzz;

struct Options {
    std::string seed_range = "0:1000000000", matching;
    int seconds = 60, jobs = 2, case_seconds = 30, shrink_seconds = 120, grace_seconds = 60;
    bool print = false, list_refusals = false, here = false, c_source = false,
         auto_schedules = false, gpu = false, tensor = false;
    std::string tensor_plan;
};

Options parse(int argc, char **argv, CLI::App &app) {
    Options o;
    app.add_option("--seed-range", o.seed_range, "seeds first:end, or one seed");
    app.add_option("--matching", o.matching, "a regex: leave out programs without a line like it");
    app.add_option("--seconds", o.seconds, "stop drawing after so many seconds");
    app.add_option("--jobs", o.jobs, "processes at once");
    app.add_option("--case-seconds", o.case_seconds, "what takes longer fails");
    app.add_option("--shrink-seconds", o.shrink_seconds, "for making a failing case small; 0: not");
    app.add_option("--grace-seconds", o.grace_seconds,
                   "stop what still runs so many seconds after the last case was begun");
    app.add_flag("--print", o.print, "print the programs of the seeds, and run nothing");
    app.add_flag("--list-refusals", o.list_refusals, "why schedules were refused, and how often");
    app.add_flag("--c-source", o.c_source, "compile the pipelines as C source, too");
    app.add_flag("--auto-schedules", o.auto_schedules,
                 "schedules of the autoscheduler, changed at random, in place of the programs'");
    app.add_flag("--gpu", o.gpu, "schedules with kernels, which are run where there is a GPU");
    app.add_flag("--tensor", o.tensor,
                 "products, convolutions and chains by tensor instructions, in place of programs; "
                 "they are run on the GPU, or interpreted where there is none");
    app.add_option("--tensor-plan", o.tensor_plan, "one such, as it was printed; run here");
    app.add_flag("--here", o.here, "run in this process, for a debugger");
    app.parse(argc, argv);
    return o;
}

std::pair<uint64_t, uint64_t> seeds_of(const std::string &range) {
    size_t colon = range.find(':');
    uint64_t first = std::stoull(range);
    return {first, colon == std::string::npos ? first + 1 : std::stoull(range.substr(colon + 1))};
}

// Draws the seeds that are asked for, one after the other, until the time is over.
class Seeds {
public:
    explicit Seeds(const Options &o)
        : until(std::chrono::steady_clock::now() + std::chrono::seconds(o.seconds)) {
        std::tie(seed, end) = seeds_of(o.seed_range);
        const uint64_t first = o.tensor ? first_tensor_seed : o.gpu ? first_gpu_seed : 0;
        if (seed < first) {
            seed += first;
            end += first;
        }
        if (!o.matching.empty()) wanted = std::regex(o.matching);
    }
    bool next(uint64_t &drawn) {
        for (; seed < end && std::chrono::steady_clock::now() < until; seed++) {
            if (wanted && !std::regex_search(to_cpp(draw_plan(seed)), *wanted)) continue;
            drawn = seed++;
            return true;
        }
        return false;
    }
    uint64_t first_left() const { return seed; }

private:
    uint64_t seed = 0, end = 0;
    std::chrono::steady_clock::time_point until;
    std::optional<std::regex> wanted;
};

void report_failure(uint64_t seed, const Report &r, int shrink_seconds) {
    std::cout << "\n==== seed " << seed << ": " << r.kind << "\n" << r.message << "\n";
    Plan plan = draw_plan(seed);
    if (shrink_seconds > 0) {
        plan = shrink(plan, r.kind, shrink_seconds);
        std::cout << check(plan, 30).message << "\n";
    }
    std::cout << to_cpp(plan) << "\n" << std::flush;
}

// Counts the plans that are refused for the same reason.
struct Refusals {
    int count = 0;
    std::string examples;
    void add(uint64_t seed, const std::string &message) {
        if (count++ < 3) examples += tessera::str("seed ", seed, ": ", first_line(message), "\n");
    }
    static std::string first_line(const std::string &text) {
        return text.substr(0, text.find('\n'));
    }
};

int run(const Options &o) {
    if (o.c_source) check_c_source();
    if (o.auto_schedules) check_auto_schedules(true);
    Seeds seeds(o);
    if (o.print) {
        for (uint64_t seed = 0; seeds.next(seed);) std::cout << to_cpp(draw_plan(seed)) << "\n";
        return 0;
    }
    if (!o.tensor_plan.empty()) {
        Plan plan;
        plan.tensor = tensor_plan_of(o.tensor_plan);
        const Report r = check_here(plan);
        std::cout << r.kind << "\n" << r.message << "\n";
        return r.outcome == Outcome::Fails;
    }
    if (o.here) {
        Report r = check_here(draw_plan(seeds.first_left()));
        std::cout << r.kind << "\n" << r.message << "\n";
        return r.outcome == Outcome::Fails;
    }
    int cases = 0, agreed = 0, unfinished = 0;
    std::map<std::string, Refusals> refusals;
    std::map<std::string, int> failures;
    check_many(
        o.jobs, o.case_seconds, [&](uint64_t &next) { return seeds.next(next); },
        [&](uint64_t of, const Report &r) {
            cases++;
            agreed += r.outcome == Outcome::Agrees;
            if (r.outcome == Outcome::Refused) refusals[r.kind].add(of, r.message);
            if (r.outcome == Outcome::Unfinished) {
                unfinished++;
                std::cout << "seed " << of << ": " << r.kind << "\n" << std::flush;
            }
            // Each kind of failure is made small once.
            if (r.outcome == Outcome::Fails) {
                bool again = failures[r.kind]++ > 0;
                if (again) {
                    std::cout << "seed " << of << ": " << r.kind << "\n" << std::flush;
                } else {
                    report_failure(of, r, o.shrink_seconds);
                }
            }
        },
        o.grace_seconds);
    int refused = 0, failed = 0;
    for (const auto &[kind, all] : refusals) {
        refused += all.count;
        if (o.list_refusals) std::cout << all.count << "  " << all.examples;
    }
    for (auto &[kind, count] : failures) failed += count;
    std::cout << cases << " cases to seed " << seeds.first_left() << ": " << agreed << " agreed, "
              << refused << " refused, " << unfinished << " unfinished, " << failed << " failed\n";
    for (auto &[kind, count] : failures) std::cout << count << "  " << kind << "\n";
    return failed > 0;
}

}  // namespace

int main(int argc, char **argv) {
    CLI::App app("Compares random pipelines, compiled under random schedules, with their "
                 "definitions.");
    try {
        return run(parse(argc, argv, app));
    } catch (const CLI::ParseError &e) {
        return app.exit(e);
    }
}
