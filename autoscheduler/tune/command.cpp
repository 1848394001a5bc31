#include "autoscheduler/tune/command.h"
#include "aot/create_generator.h"
#include "autoscheduler/bundle/export_bundle.h"
#include "autoscheduler/bundle/log_file.h"
#include "autoscheduler/machine_probe.h"
#include "autoscheduler/options.h"
#include "autoscheduler/report.h"
#include "autoscheduler/report_text.h"
#include "autoscheduler/tune/gpu_report.h"
#include "autoscheduler/tune/task_scheduler.h"
#include "autoscheduler/tune/usage.h"
#include "autoscheduler/tuning_problem.h"
#include "base/warning.h"
#include "driver/compile.h"
#include "driver/files.h"
#include "program/print_schedule.h"
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <map>
#include <utility>

namespace tessera::autoscheduler {
namespace {

struct Command {
    std::vector<std::pair<std::string, double>> generators;  // name, weight
    std::string folder = ".", log, exported, linker;
    int trials = 0, cores = 0;
    double seconds = 1e9;
    uint64_t seed = 1;
    bool measures = true, reports = true, help = false;
    Target target = get_host_target();
    std::vector<std::pair<std::string, std::string>> params;

    std::string log_path() const { return log.empty() && measures ? "tuning.jsonl" : log; }
};

template<typename T> T number(const std::string &option, const std::string &text, T least) {
    T value = {};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < least)
        throw CompileError(str(option, " wants a number of at least ", least, ", not ", text));
    return value;
}

std::pair<std::string, double> with_weight(const std::string &text) {
    const size_t colon = text.find(':');
    if (colon == std::string::npos) return {text, 1};
    return {text.substr(0, colon), number("the weight behind -g", text.substr(colon + 1), 0.0)};
}

Command parse(std::span<const std::string> arguments) {
    Command c;
    using Take = std::function<void(const std::string &)>;
    const std::map<std::string, Take> options = {
        {"-g", [&](const std::string &v) { c.generators.push_back(with_weight(v)); }},
        {"-o", [&](const std::string &v) { c.folder = v; }},
        {"--export",
         [&](const std::string &v) {
             c.exported = v;
             c.measures = false;
         }},
        {"--target", [&](const std::string &v) { c.target = Target(v); }},
        {"--linker", [&](const std::string &v) { c.linker = v; }},
        {"--log", [&](const std::string &v) { c.log = v; }},
        {"--trials", [&](const std::string &v) { c.trials = number("--trials", v, 1); }},
        {"--seconds", [&](const std::string &v) { c.seconds = number("--seconds", v, 0.0); }},
        {"--parallelism", [&](const std::string &v) { c.cores = number("--parallelism", v, 1); }},
        {"--seed", [&](const std::string &v) { c.seed = number<uint64_t>("--seed", v, 0); }}};
    const std::map<std::string, bool *> switches = {{"-h", &c.help}, {"--help", &c.help}};
    for (size_t i = 0; i < arguments.size(); i++) {
        const std::string &word = arguments[i];
        const size_t equals = word.find('=');
        if (const auto s = switches.find(word); s != switches.end()) {
            *s->second = true;
        } else if (word == "--no-measure") {
            c.measures = false;
        } else if (word == "--no-reports") {
            c.reports = false;
        } else if (word.starts_with("--target=")) {
            c.target = Target(word.substr(equals + 1));
        } else if (const auto o = options.find(word); o != options.end()) {
            if (i + 1 == arguments.size()) throw CompileError(str(word, " wants a value after it"));
            o->second(arguments[++i]);
        } else if (word.starts_with("target=")) {
            c.target = Target(word.substr(equals + 1));
        } else if (!word.starts_with("-") && equals != std::string::npos && equals > 0) {
            c.params.emplace_back(word.substr(0, equals), word.substr(equals + 1));
        } else {
            throw CompileError(
                str("\"", word, "\" is no option and no name=value; see --tune --help"));
        }
    }
    return c;
}

// A line on stderr that is written again and again: what is done now, for which pipeline, and how
// many schedules of all have been measured.
class Display {
public:
    Display(const Command &command, size_t pipelines)
        : most(command.trials > 0 ? size_t(command.trials) : 200 * pipelines),
          measures(command.measures) {}
    ~Display() {
        if (width > 0) std::fprintf(stderr, "\n");
    }
    Display(const Display &) = delete;

    void show(const std::string &pipeline, std::string_view doing) {
        size_t sum = 0;
        for (const auto &[name, trials] : measured) sum += trials;
        std::string line = str(pipeline, ": ", doing);
        if (measures) line += str(", trial ", sum, " of ", most);
        line += autoscheduler::number(", %.0f s",
                                      std::chrono::duration<double>(Clock::now() - begin).count());
        const size_t before = std::exchange(width, line.size());
        line.resize(std::max(before, width), ' ');
        std::fprintf(stderr, "\r%s", line.c_str());
        std::fflush(stderr);
    }
    void show(const std::string &pipeline, const SearchProgress &p) {
        measured[pipeline] = p.measured;
        show(pipeline, p.doing);
    }
    size_t trials_in_all() const { return most; }

private:
    using Clock = std::chrono::steady_clock;
    const size_t most;
    const bool measures;
    size_t width = 0;
    std::map<std::string, size_t> measured;
    const Clock::time_point begin = Clock::now();
};

std::unique_ptr<GeneratorBase> made(const std::string &name, const Command &command,
                                    const GeneratorSource &source) {
    GeneratorJob job;
    job.generator = name;
    job.params = command.params;
    job.source = &source;
    // An autoscheduler in the context lets the generator leave its own schedule out.
    return create_generator(job, GeneratorContext(command.target, {"tessera"}));
}

std::string source_of(const std::string &name, const program::Algorithm &algorithm,
                      const program::Schedule &schedule) {
    return "// The schedule of " + name + ", for a Pipeline `pipeline` of the same algorithm.\n" +
           program::print_schedule(algorithm, schedule);
}

// One generator's pipeline, with all that its search works on.
class Job {
public:
    Job(const std::string &name, double weight, const Command &command,
        const GeneratorSource &source, Display &display)
        : name(name), command(command), generator(made(name, command, source)),
          problem(generator->get_pipeline(), command.target,
                  command.measures ? this_machine(command.target, command.cores)
                                   : known_machine(command.target, command.cores)) {
        const std::string useless = command.measures ? problem.why_not_measured() : "";
        if (!useless.empty()) warn(Location(), str(name, ": ", useless));
        measures = command.measures && useless.empty();
        options.trials = measures ? 1 << 20 : 0;  // the budget is that of all together
        options.seed = command.seed;
        options.seconds = command.seconds;
        options.measure.threads = command.cores;
        options.control.progress = [&display, name](const SearchProgress &p) {
            display.show(name, p);
        };
        log =
            std::make_unique<TuningLog>(command.log_path(), problem.workload, problem.machine.cores,
                                        measures ? LogUse::Write : LogUse::Read);
        if (measures) options.log = log.get();
        search = std::make_unique<Search>(problem.workload, problem.machine, options);
        task.search = search.get();
        task.weight = weight;
        task.least = milliseconds_at_least(problem.graph, problem.machine);
    }

    // Measures one batch more, of at most so many.
    void step(size_t most) {
        if (!measures) {
            const std::string useless = log->why_of_no_use();
            if (!useless.empty()) warn(Location(), str(name, ": ", useless));
        }
        task.is_done = !search->step(most) || !measures;
        task.history.push_back(search->result().milliseconds);
    }
    void finish() {
        search->finish();
        if (measures && trials() == 0) {
            warn(Location(),
                 str(name, ": nothing is measured, since the trials or the time are used up"));
        }
        best = best_of_all();
    }
    size_t trials() const { return search->result().trials.size(); }

    std::string summary() const {
        const SearchResult &r = best;
        const double by_rules = r.trials.empty() ? 0 : r.trials[0].times().counted();
        const double of_limit = r.milliseconds > 0 ? 100 * task.least / r.milliseconds : 0;
        char line[200];
        std::snprintf(line, sizeof(line), "%-24s %10s %10s %9s %8zu%s", name.c_str(),
                      known("%.4g", by_rules).c_str(), known("%.4g", r.milliseconds).c_str(),
                      known("%.0f %%", of_limit).c_str(), trials(),
                      is_of_log(r) ? "  the best is of the log" : "");
        return line;
    }
    void write(std::ostream &out) const {
        const std::string base = command.folder + "/" + name;
        driver::write_text(base + ".schedule.h", source());
        if (!command.reports) return;
        const SearchResult &r = best;
        const bool is_written =
            write_report(base + ".html", to_html(problem.workload, problem.machine, r, name), r);
        if (!is_written) {
            out << base << ".html stays, since it has measurements, and nothing was measured now\n";
        }
    }

    void export_candidates(std::ostream &out) const {
        ExportOptions how;
        how.folder = command.exported + "/" + name;
        if (command.trials > 0) how.candidates = size_t(command.trials);
        how.seed = command.seed;
        how.linker = command.linker;
        const size_t count = export_bundle(problem.workload, problem.machine, *log, how);
        out << how.folder << ": " << count << " candidates\n";
    }

    const std::string name;
    TuningTask task;

private:
    // Returns what was found, or something that the log has and that the search did not come
    // across.
    SearchResult best_of_all() const {
        SearchResult r = search->result();
        const auto logged = log->best();
        if (!logged || is_trial(r, logged->first)) return r;
        r.schedule = logged->first;
        r.milliseconds = logged->second;
        return r;
    }
    bool is_trial(const SearchResult &r, const program::Schedule &schedule) const {
        const uint64_t hash = schedule.hash(problem.algorithm);
        return std::ranges::any_of(
            r.trials, [&](const Trial &t) { return t.schedule.hash(problem.algorithm) == hash; });
    }
    bool is_of_log(const SearchResult &r) const {
        return r.milliseconds > 0 && !is_trial(r, r.schedule);
    }
    static std::string known(const char *format, double v) {
        return v > 0 ? autoscheduler::number(format, v) : "-";
    }
    std::string source() const { return source_of(name, problem.algorithm, best.schedule); }

    const Command &command;
    std::unique_ptr<GeneratorBase> generator;
    const TuningProblem problem;
    SearchOptions options;
    bool measures = false;
    std::unique_ptr<TuningLog> log;
    std::unique_ptr<Search> search;
    SearchResult best;  // when it is finished
};

// Does something for one pipeline after the other. If there are several, those that fail are
// reported at once, and left out.
class Jobs {
public:
    using Each = std::function<void(Job &)>;
    explicit Jobs(size_t wanted) : wanted(wanted) {}

    void add(const std::string &name, const std::function<std::unique_ptr<Job>()> &made) {
        attempt(name, [&] { all.push_back(made()); });
    }
    void each(const Each &f) {
        std::erase_if(all, [&](const auto &job) { return !attempt(job->name, [&] { f(*job); }); });
    }
    // The number of trials of all.
    size_t trials() const {
        size_t sum = 0;
        for (const auto &job : all) sum += job->trials();
        return sum;
    }
    size_t size() const { return all.size(); }
    // Steps the job that is expected to gain the most, or one that has not begun: no others, if the
    // budget is used up. False: all are done.
    bool step(size_t most, bool is_over) {
        std::vector<TuningTask> tasks;
        for (const auto &job : all) tasks.push_back(job->task);
        const int next = next_task(tasks);
        if (next < 0 || (is_over && !tasks[size_t(next)].history.empty())) return false;
        // Each has a part of few trials.
        const auto to_begin = size_t(
            std::ranges::count_if(tasks, [](const TuningTask &t) { return t.history.empty(); }));
        if (to_begin > 1) most = most / to_begin + (most % to_begin != 0);
        Job &job = *all[size_t(next)];
        if (!attempt(job.name, [&] { job.step(most); })) all.erase(all.begin() + next);
        return true;
    }
    // RuntimeError if any has failed.
    void require_all() const {
        if (failed.empty()) return;
        if (wanted == 1) throw RuntimeError(first_message);
        throw RuntimeError(str(failed.size(), " of ", wanted, " pipelines failed: ", join(failed)));
    }

private:
    bool attempt(const std::string &name, const std::function<void()> &f) {
        try {
            f();
            return true;
        } catch (const std::exception &e) {
            const std::string message = str(name, ": ", e.what());
            if (failed.empty()) first_message = message;
            if (wanted > 1) warn(Location(), message);
            failed.push_back(name);
            return false;
        }
    }
    const size_t wanted;
    std::vector<std::unique_ptr<Job>> all;
    std::vector<std::string> failed;
    std::string first_message;
};

void run(Jobs &jobs, const Command &command, const Display &display) {
    const auto begin = std::chrono::steady_clock::now();
    const size_t most = display.trials_in_all();
    const auto passed = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    while (true) {
        const size_t left = most - std::min(most, jobs.trials());
        if (!jobs.step(left, left == 0 || passed() >= command.seconds)) break;
    }
    jobs.each([](Job &job) { job.finish(); });
}

// A pipeline with kernels, which rules alone schedule.
class KernelJob {
public:
    KernelJob(const std::string &name, const Command &command, const GeneratorSource &source)
        : name(name), generator(made(name, command, source)),
          problem(generator->get_pipeline(), command.target,
                  known_machine(command.target, command.cores)),
          machine(GpuMachine::usual(command.target)),
          found(schedule_for_gpu(problem.workload, machine)) {}

    void write(const Command &command, std::ostream &out) const {
        const std::string base = command.folder + "/" + name;
        const std::string report = report_of_kernels(name, found, machine);
        driver::write_text(base + ".schedule.h",
                           source_of(name, problem.algorithm, found.schedule));
        if (command.reports) driver::write_text(base + ".kernels.txt", report);
        out << report;
    }

private:
    const std::string name;
    std::unique_ptr<GeneratorBase> generator;
    const TuningProblem problem;
    const GpuMachine machine;
    const GpuRulesResult found;
};

// Refuses the options that ask for a card. Throws CompileError.
void check_for_gpu(const Command &command) {
    if (!command.exported.empty()) {
        throw CompileError("--export writes candidates for a CPU; kernels are not measured yet, "
                           "and those of a target with a GPU are made by rules: leave it out");
    }
    if (command.trials > 0 || !command.log.empty() || command.seconds < 1e9) {
        throw CompileError("--trials, --seconds and --log are for what is measured, which kernels "
                           "are not yet: for a target with a GPU rules make schedules; leave them "
                           "out");
    }
}

void tune_kernels(const Command &command, std::ostream &out, const GeneratorSource &source) {
    check_for_gpu(command);
    std::vector<std::string> failed;
    std::string first_message;
    for (const auto &[name, weight] : command.generators) {
        try {
            KernelJob(name, command, source).write(command, out);
        } catch (const std::exception &e) {
            const std::string message = str(name, ": ", e.what());
            if (failed.empty()) first_message = message;
            if (command.generators.size() > 1) warn(Location(), message);
            failed.push_back(name);
        }
    }
    if (failed.empty()) return;
    if (command.generators.size() == 1) throw RuntimeError(first_message);
    throw RuntimeError(
        str(failed.size(), " of ", command.generators.size(), " pipelines failed: ", join(failed)));
}

// Mistakes that are not those of one pipeline.
void check_names(const Command &command, const GeneratorSource &source) {
    const std::vector<std::string> names = source.names();
    for (const auto &[name, weight] : command.generators) {
        if (std::ranges::count(names, name)) continue;
        throw CompileError(str("there is no generator ", name, choices_text(name, names)));
    }
}
void check(const Command &command, const GeneratorSource &source) {
    check_names(command, source);
    const std::string log = command.log_path();
    if (!log.empty()) read_records(log, [](const auto &) {}).warn_of_damage(log);
}

}  // namespace

int tune_generators(std::span<const std::string> arguments, std::ostream &out,
                    const GeneratorSource &source) {
    Command command = parse(arguments);
    if (command.help) {
        out << "usage: generator --tune" << tune_options;
        return 0;
    }
    if (command.target.has_gpu_feature()) {
        check_names(command, source);
        if (command.generators.empty()) {
            for (const std::string &name : source.names()) command.generators.emplace_back(name, 1);
        }
        std::filesystem::create_directories(command.folder);
        tune_kernels(command, out, source);
        return 0;
    }
    if (command.measures && !runs_here(command.target)) {
        warn(Location(), str("nothing is measured, since this machine cannot run what is compiled "
                             "for ",
                             command.target.to_string()));
        command.measures = false;
    }
    if (command.seconds == 0) command.measures = false;
    check(command, source);
    if (command.generators.empty()) {
        for (const std::string &name : source.names()) command.generators.emplace_back(name, 1);
    }
    if (command.exported.empty())
        warn_of_cores(str("--parallelism ", command.cores), command.cores);
    std::filesystem::create_directories(command.folder);
    Jobs jobs(command.generators.size());
    auto display = std::make_unique<Display>(command, command.generators.size());
    for (const auto &[name, weight] : command.generators) {
        display->show(name, "preparing");
        jobs.add(name,
                 [&] { return std::make_unique<Job>(name, weight, command, source, *display); });
    }
    if (!command.exported.empty()) {
        jobs.each([&](Job &job) { job.export_candidates(out); });
    } else {
        run(jobs, command, *display);
        display.reset();
        if (jobs.size() > 0)
            out << "pipeline                   rules ms    best ms  of limit   trials\n";
        jobs.each([&](Job &job) {
            job.write(out);
            out << job.summary() << "\n";
        });
    }
    jobs.require_all();
    return 0;
}

}  // namespace tessera::autoscheduler
