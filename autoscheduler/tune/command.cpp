#include "autoscheduler/tune/command.h"
#include "aot/create_generator.h"
#include "autoscheduler/bundle/export_bundle.h"
#include "autoscheduler/machine_probe.h"
#include "autoscheduler/report.h"
#include "autoscheduler/tune/task_scheduler.h"
#include "autoscheduler/tuning_problem.h"
#include "driver/compile.h"
#include "driver/files.h"
#include "program/print_schedule.h"
#include <charconv>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>

namespace tessera::autoscheduler {
namespace {

constexpr const char *usage =
    R"(usage: generator --tune [-g name]... [-o folder] [--trials n] [--seconds n] [--log file]
                 [--parallelism n] [--seed n] [--no-measure] [--no-reports] [--export folder]
                 [--linker cc] [target=t] [name=value ...]

Finds schedules for pipelines of generators, as autoscheduler=tessera does for one.
  -g name        a generator, or name:weight, how often it runs beside the others; may be given
                 several times, and is all that there are without it
  -o folder      where name.schedule.h and name.html go; the current folder without it
  --trials n     schedules that are measured, of all pipelines together; 200 of each without it
  --seconds n    after which no more are begun
  --log file     measurements, as JSON lines: what it has is not measured again, so that whatever
                 ends the search, the next one goes on there; tuning.jsonl without it
  --parallelism n, --seed n, target=t, name=value
                 cores; of the random choices; of the machine, and parameters of the generators
  --no-measure   the best of --log; without one, the cost model alone chooses, in seconds
  --no-reports   writes no pages of HTML
  --export folder
                 measures nothing, but writes --trials candidates of each generator into
                 folder/name, for tessera-measure to measure on a machine without a compiler: the
                 --log that it writes is one for this program. --parallelism is that of the machine
  --linker cc    the C compiler that makes shared libraries of them
Set TESSERA_TUNING_LOG to the log, and programs and generators with autoscheduler.trials=0 have the
best of it without a search.
)";

struct Command {
    std::vector<std::pair<std::string, double>> generators;  // name, weight
    std::string folder = ".", log, exported, linker = "cc";
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

// One generator's pipeline, with all that its search works on.
class Job {
public:
    Job(const std::string &name, double weight, const Command &command,
        const GeneratorSource &source)
        : name(name), command(command), generator(made(name, command, source)),
          problem(generator->get_pipeline(), command.target,
                  command.measures ? this_machine(command.target, command.cores)
                                   : known_machine(command.target, command.cores)) {
        options.trials = command.measures ? 1 << 20 : 0;  // the budget is that of all together
        options.seed = command.seed;
        options.measure.threads = command.cores;
        log = std::make_unique<TuningLog>(command.log_path(), problem.workload,
                                          problem.machine.cores);
        if (command.measures) options.log = log.get();
        search = std::make_unique<Search>(problem.workload, problem.machine, options);
        task.search = search.get();
        task.weight = weight;
        task.least = milliseconds_at_least(problem.graph, problem.machine);
    }

    // Measures one batch more, of at most so many.
    void step(size_t most) {
        task.is_done = !search->step(most) || !command.measures;
        task.history.push_back(search->result().milliseconds);
    }
    void finish() { search->finish(); }
    size_t trials() const { return search->result().trials.size(); }

    std::string summary() const {
        const SearchResult r = best();
        const Measurement by_rules = r.trials.empty() ? Measurement() : r.trials[0].measurement;
        char line[200];
        std::snprintf(line, sizeof(line), "%-24s %10.4g %10.4g %7.0f %% %8zu", name.c_str(),
                      by_rules.milliseconds, r.milliseconds,
                      r.milliseconds > 0 ? 100 * task.least / r.milliseconds : 0, trials());
        return line;
    }
    void write() const {
        const std::string base = command.folder + "/" + name;
        driver::write_text(base + ".schedule.h", source());
        if (command.reports) {
            driver::write_text(base + ".html", to_html(problem.workload, problem.machine, best()));
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

    TuningTask task;

private:
    // What was found, or something that the log has and that the search did not come across.
    SearchResult best() const {
        SearchResult r = search->result();
        const auto logged = log->best();
        if (!logged || (r.milliseconds > 0 && logged->second >= r.milliseconds)) return r;
        const uint64_t hash = logged->first.hash(problem.algorithm);
        for (const Trial &t : r.trials) {
            if (t.schedule.hash(problem.algorithm) == hash) return r;
        }
        r.schedule = logged->first;
        r.milliseconds = logged->second;
        return r;
    }
    static std::unique_ptr<GeneratorBase> made(const std::string &name, const Command &command,
                                               const GeneratorSource &source) {
        GeneratorJob job;
        job.generator = name;
        job.params = command.params;
        job.source = &source;
        // That there is one lets the generator leave its own schedule out.
        return create_generator(job, GeneratorContext(command.target, {"tessera"}));
    }
    std::string source() const {
        return "// The schedule of " + name +
               ", for a Pipeline `pipeline` of the same algorithm.\n" +
               program::print_schedule(problem.algorithm, best().schedule);
    }

    const std::string name;
    const Command &command;
    std::unique_ptr<GeneratorBase> generator;
    const TuningProblem problem;
    SearchOptions options;
    std::unique_ptr<TuningLog> log;
    std::unique_ptr<Search> search;
};

void run(std::vector<std::unique_ptr<Job>> &jobs, const Command &command) {
    const auto begin = std::chrono::steady_clock::now();
    const size_t most = command.trials > 0 ? size_t(command.trials) : 200 * jobs.size();
    while (true) {
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
        size_t trials = 0;
        std::vector<TuningTask> tasks;
        for (const auto &job : jobs) {
            trials += job->trials();
            tasks.push_back(job->task);
        }
        const int next = next_task(tasks);
        if (next < 0 || passed.count() >= command.seconds || trials >= most) break;
        jobs[size_t(next)]->step(most - trials);
        std::fprintf(stderr, "\rtrial %zu of %zu, %.0f s   ", trials, most, passed.count());
    }
    for (const auto &job : jobs) job->finish();
    std::fprintf(stderr, "\n");
}

}  // namespace

int tune_generators(std::span<const std::string> arguments, std::ostream &out,
                    const GeneratorSource &source) {
    Command command = parse(arguments);
    if (command.help) {
        out << usage;
        return 0;
    }
    if (command.generators.empty()) {
        for (const std::string &name : source.names()) command.generators.emplace_back(name, 1);
    }
    std::filesystem::create_directories(command.folder);
    std::vector<std::unique_ptr<Job>> jobs;
    for (const auto &[name, weight] : command.generators)
        jobs.push_back(std::make_unique<Job>(name, weight, command, source));
    if (!command.exported.empty()) {
        for (const auto &job : jobs) job->export_candidates(out);
        return 0;
    }
    run(jobs, command);
    out << "pipeline                   rules ms    best ms  of limit   trials\n";
    for (const auto &job : jobs) {
        job->write();
        out << job->summary() << "\n";
    }
    return 0;
}

}  // namespace tessera::autoscheduler
