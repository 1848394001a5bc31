#include "autoscheduler/machine_probe.h"
#include "autoscheduler/options.h"
#include "autoscheduler/register.h"
#include "autoscheduler/report.h"
#include "autoscheduler/space/gpu_rules.h"
#include "autoscheduler/tuning_problem.h"
#include "lang/unscheduled.h"
#include "program/print_schedule.h"
#include <algorithm>
#include <iostream>

namespace tessera::autoscheduler {
namespace {

// Returns the fastest schedule that a log has, where nothing is to be measured.
std::optional<SearchResult> replayed(const std::optional<TuningLog> &log,
                                     const SearchOptions &options) {
    if (!log || options.trials > 0) return std::nullopt;
    const auto best = log->best();
    if (!best) return std::nullopt;
    SearchResult result;
    result.schedule = best->first;
    result.milliseconds = best->second;
    return result;
}

struct Job {
    int cores = 0, trials = 0;
    bool uses_model = true;
    double seconds = 1e9;
    uint64_t seed = 1;
    std::string log, report;
    bool shows_progress = false;
    bool asks_for_search = false;  // by an option
    SearchControl control;
};

// Gives the pipeline the steps of a schedule behind those that it has, and writes them down.
void take_over(const TuningProblem &problem, const program::Schedule &found,
               AutoSchedulerResults *results) {
    const std::vector<program::FunctionRef> outputs = outputs_of(problem.pipeline);
    program::Functions functions = program::functions_of(outputs);
    for (const program::Step &step : steps_of_plan(problem.graph, found)) {
        program::perform(step, functions);
    }
    const program::Schedule schedule = program::schedule_of(outputs);
    results->schedule_source = program::print_schedule_block(problem.algorithm, schedule);
    results->schedule_python =
        program::print_schedule(problem.algorithm, schedule, "pipeline", program::Language::Python);
}

// By rules: no search looks at kernels yet.
void schedule_kernels(const Pipeline &pipeline, const Target &target, const Job &job,
                      AutoSchedulerResults *results) {
    const TuningProblem problem(pipeline, target, Machine::usual(target, job.cores));
    if (job.asks_for_search) {
        warn_of("nothing is measured, since schedules for GPUs are made by rules; without the "
                "options trials, seconds, log and report that is what is asked for");
    }
    const GpuRulesResult found = schedule_for_gpu(problem.workload, GpuMachine::usual(target));
    if (found.is_on_cpu) {
        warn_of(str("no schedule for a GPU was found, and the pipeline runs on the CPU: ",
                    found.refusal));
    }
    take_over(problem, found.schedule, results);
}

void schedule_pipeline(const Pipeline &pipeline, const Target &target, const Job &job,
                       AutoSchedulerResults *results) {
    if (target.has_gpu_feature()) return schedule_kernels(pipeline, target, job, results);
    // If anything is measured, the machine is measured first.
    const bool measures = runs_here(target) && job.trials > 0;
    const TuningProblem problem(pipeline, target,
                                measures ? this_machine(target, job.cores, job.control.stop)
                                         : known_machine(target, job.cores));
    SearchOptions options;
    const std::string useless = job.trials > 0 ? problem.why_not_measured() : "";
    warn_of(useless);
    options.trials = useless.empty() ? job.trials : 0;
    options.uses_model = job.uses_model;
    options.seconds = job.seconds;
    options.seed = job.seed;
    options.measure.threads = job.cores;
    std::optional<TuningLog> log;
    if (!job.log.empty()) {
        options.log = &log.emplace(job.log, problem.workload, problem.machine.cores,
                                   options.trials > 0 ? LogUse::Write : LogUse::Read);
        log->warn_of_damage();
        if (options.trials == 0) warn_of(log->why_of_no_use());
    }
    ProgressLine progress(std::cerr, options.seconds,
                          milliseconds_at_least(problem.graph, problem.machine));
    options.control = job.control;
    if (job.shows_progress) {
        options.control.progress = [&](const SearchProgress &p) {
            progress(p);
            if (job.control.progress) job.control.progress(p);
        };
    }
    const std::optional<SearchResult> known = replayed(log, options);
    const SearchResult found = known ? *known : search(problem.workload, problem.machine, options);
    progress.finish();
    results->is_stopped = found.is_stopped;
    results->milliseconds = found.milliseconds;
    results->trials = found.trials.size();
    if (found.is_stopped && found.schedule.steps.empty()) return;
    if (!found.trials.empty() || !job.report.empty())
        results->report = to_html(problem.workload, problem.machine, found);
    if (!job.report.empty()) write_report(job.report, results->report, found);
    take_over(problem, found.schedule, results);
}

int cores_in(const Options &options) {
    const int cores = options.number("parallelism", 0, 1);
    warn_of_cores(str("parallelism=", cores), cores);
    return cores;
}

// A stop before the search has begun leaves the schedule as it was.
void schedule_until_stopped(const Pipeline &pipeline, const Target &target, const Job &job,
                            AutoSchedulerResults *results) {
    try {
        schedule_pipeline(pipeline, target, job, results);
    } catch (const Stopped &) {
        results->is_stopped = true;
    }
}

void tune(const Pipeline &pipeline, const Target &target, const AutoschedulerParams &params,
          AutoSchedulerResults *results) {
    const Options options(
        params, {"trials", "seconds", "seed", "log", "report", "progress", "parallelism"});
    Job job;
    job.cores = cores_in(options);
    job.trials = options.number("trials", 64, 0);
    job.seconds = options.number("seconds", 1e9, 0.0);
    job.seed = options.number<uint64_t>("seed", 1, 0);
    job.log = options.text("log");
    if (job.log.empty()) job.log = usual_log();
    job.report = options.text("report");
    job.shows_progress = options.number("progress", 0, 0) != 0;
    if (job.seconds == 0) job.trials = 0;
    const bool has_file = !options.text("log").empty() || !job.report.empty();
    const bool has_limit = params.extra.contains("trials") || params.extra.contains("seconds");
    job.asks_for_search = has_file || (has_limit && job.trials > 0);
    job.control = params.control;
    schedule_until_stopped(pipeline, target, job, results);
}

void schedule_by_rules(const Pipeline &pipeline, const Target &target,
                       const AutoschedulerParams &params, AutoSchedulerResults *results) {
    const Options options(params, {"parallelism"});
    Job job;
    job.cores = cores_in(options);
    job.uses_model = false;
    job.control = params.control;
    schedule_until_stopped(pipeline, target, job, results);
}

// Schedules as programs that were written for Halide expect: without measurement.
void schedule_for_halide(const Pipeline &pipeline, const Target &target,
                         const AutoschedulerParams &params, AutoSchedulerResults *results) {
    const Options options(params, {"parallelism"},
                          {"last_level_cache_size", "balance", "experimental_gpu_schedule",
                           "beam_size", "num_passes", "random_dropout", "random_dropout_seed",
                           "weights_path", "disable_subtiling", "disable_memoized_features",
                           "disable_memoized_blocks", "memory_limit"});
    Job job;
    job.cores = options.number("parallelism", 0, 1);
    job.control = params.control;
    schedule_until_stopped(pipeline, target, job, results);
}

}  // namespace

void register_autoschedulers() {
    Pipeline::add_autoscheduler("tessera", tune);
    Pipeline::add_autoscheduler("simple", schedule_by_rules);
    for (const char *name : {"Mullapudi2016", "Adams2019", "Li2018"}) {
        Pipeline::add_autoscheduler(name, schedule_for_halide);
    }
    Pipeline::set_default_autoscheduler_name("tessera");
    detail::set_schedule_finder(schedule_for_run);
}

}  // namespace tessera::autoscheduler
