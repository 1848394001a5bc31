#include "autoscheduler/machine_probe.h"
#include "autoscheduler/measure.h"
#include "autoscheduler/mutate.h"
#include "autoscheduler/simple.h"
#include "autoscheduler/sketch.h"
#include "autoscheduler/training/log.h"
#include "autoscheduler/tuning_problem.h"
#include "program/schedule_json.h"
#include <chrono>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <set>
#include <sys/wait.h>
#include <unistd.h>

namespace tessera::autoscheduler::training {

using nlohmann::json;
using program::Schedule;

namespace {

class Collector {
public:
    Collector(uint64_t seed, const CollectOptions &options)
        : options(options), seed(seed), sample(random_sample(seed)),
          problem(sample.pipeline, get_host_target(),
                  this_machine(get_host_target(), options.threads)),
          random(seed) {}

    void operator()() {
        const Schedule plain = to_schedule(problem.graph, plain_plan(problem.graph), 1);
        Measurer measurer(problem.workload, plain,
                          {.threads = options.threads,
                           .compilers = 1,
                           .seconds = 10,
                           .run_seconds = 0.06,
                           .processor_time = options.threads == 1});
        if (!measurer.reference().is_valid()) return;
        const std::vector<Schedule> schedules = random_schedules();
        double best = 1e300;
        for (const Schedule &s : schedules) {
            const Measurement m = measurer({s}, 20 * best)[0];
            if (!m.is_valid()) continue;
            best = std::min(best, m.milliseconds);
            write(s, m.milliseconds);
        }
    }

private:
    // The rule-based schedule, and others that are changed from it or from one another, few of
    // which are hopeless.
    std::vector<Schedule> random_schedules() {
        const std::vector<Sketch> sketches =
            make_sketches(problem.algorithm, problem.graph.by_hand, problem.machine);
        std::vector<std::pair<const Graph *, Plan>> plans;
        std::vector<Schedule> schedules;
        std::set<uint64_t> seen;
        double least = 1e300;
        for (const Sketch &s : sketches) {
            const SimpleResult simple = schedule_simply(*s.graph, problem.machine);
            plans.emplace_back(s.graph.get(), simple.plan);
            schedules.push_back(simple.schedule);
            seen.insert(simple.schedule.hash(problem.algorithm));
            least = std::min(least, simple.cycles);
        }
        for (int tries = 0; tries < 40 * options.per_pipeline; tries++) {
            if (int(schedules.size()) >= options.per_pipeline) break;
            auto [graph, plan] = plans[random() % plans.size()];
            for (uint64_t changes = 1 + random() % 8; changes > 0; changes--)
                plan = mutated(*graph, plan, problem.machine, random);
            const Schedule schedule = to_schedule(*graph, plan, problem.machine.least_tasks());
            if (!seen.insert(schedule.hash(problem.algorithm)).second) continue;
            const double most = random() % 8 ? 3 : 20;
            if (!is_promising(*graph, schedule, most * least)) continue;
            schedules.push_back(schedule);
            plans.emplace_back(graph, std::move(plan));
        }
        return schedules;
    }
    bool is_promising(const Graph &graph, const Schedule &schedule, double most) const {
        try {
            LoopTree tree(graph, program::apply(problem.algorithm, schedule));
            return estimate_cost(tree, problem.machine).cycles <= most;
        } catch (const CompileError &) {
            return false;
        }
    }

    void write(const Schedule &schedule, double milliseconds) const {
        const Machine &m = problem.machine;
        const json record = {
            {"seed", seed},
            {"kind", sample.kind},
            {"algorithm", problem.algorithm.hash()},
            {"target", problem.workload.target().to_string()},
            {"cores", m.cores},
            {"machine", json::parse(to_json(m))},
            {"ms", milliseconds},
            {"steps", json::parse(program::schedule_to_json(problem.algorithm, schedule))}};
        const std::string line = record.dump() + "\n";
        const int out = open(options.log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
        if (out < 0 || ::write(out, line.data(), line.size()) != ssize_t(line.size()))
            throw RuntimeError(str("the log ", options.log, " cannot be written"));
        close(out);
    }

    const CollectOptions &options;
    const uint64_t seed;
    const Sample sample;
    const TuningProblem problem;
    std::mt19937_64 random;
};

// In a process of its own, so that a fault costs this pipeline alone.
pid_t collect_apart(uint64_t seed, const CollectOptions &options) {
    const pid_t process = fork();
    if (process != 0) return process;
    alarm(120);
    try {
        Collector(seed, options)();
    } catch (const std::exception &e) {
        std::fprintf(stderr, "seed %llu: %s\n", static_cast<unsigned long long>(seed), e.what());
    }
    _exit(0);
}

}  // namespace

void collect(const CollectOptions &options) {
    if (options.first >= options.last)
        throw RuntimeError("there is no pipeline to collect: --first has to be less than --last");
    const auto begin = std::chrono::steady_clock::now();
    auto is_late = [&] {
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
        return passed.count() > options.seconds;
    };
    uint64_t next = options.first;
    int running = 0;
    while (running > 0 || (next < options.last && !is_late())) {
        if (running < options.jobs && next < options.last && !is_late()) {
            if (collect_apart(next++, options) > 0) running++;
            continue;
        }
        if (wait(nullptr) > 0) running--;
    }
}

}  // namespace tessera::autoscheduler::training
