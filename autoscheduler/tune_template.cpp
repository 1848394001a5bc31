#include "autoscheduler/tune_template.h"
#include "autoscheduler/knob_space.h"
#include "autoscheduler/machine.h"
#include "autoscheduler/options.h"
#include "autoscheduler/plan.h"
#include "autoscheduler/tuning_log.h"
#include "autoscheduler/tuning_problem.h"
#include "lang/func.h"
#include "lang/jit_externs.h"
#include "program/print_schedule.h"
#include <algorithm>
#include <chrono>
#include <set>

namespace tessera::autoscheduler {
namespace {

class TemplateSearch {
public:
    TemplateSearch(const Pipeline &pipeline, const ScheduleTemplate &schedule, const Target &target,
                   const TuneOptions &options)
        : schedule(schedule), options(options), outputs(outputs_of(pipeline)),
          before(program::schedule_of(outputs, program::Levels::Late)), algorithm(outputs),
          graph(algorithm, program::schedule_of(outputs)),
          workload(pipeline.program(), algorithm, graph, target,
                   detail::compile_externs(pipeline.get_jit_externs(), driver::jit_target(target))),
          random(options.seed) {
        const std::string path = options.log.empty() ? usual_log() : options.log;
        const int cores = Machine::usual(target, options.parallelism).cores;
        if (path.empty()) return;
        log = std::make_unique<TuningLog>(path, workload, cores,
                                          measures() ? LogUse::Write : LogUse::Read);
        log->warn_of_damage();
        if (!measures() && log->best_choices().empty()) warn_of(log->why_of_no_use());
    }

    TemplateResult run() {
        try {
            measures() ? search_until_stopped() : look_up();
            return result();
        } catch (...) {
            program::replace_schedule(outputs, before);
            throw;
        }
    }

private:
    bool measures() const { return options.trials > 0 && options.seconds > 0; }

    struct Candidate {
        Chosen chosen;
        program::Schedule schedule;
    };
    struct Trial {
        Candidate candidate;
        Measurement measurement;
    };

    // A schedule that was not there before. Nothing: it was, or the choices make none.
    std::optional<Candidate> candidate(const Decide &decide) {
        program::replace_schedule(outputs, before);
        std::string refusal;
        Candidate c;
        c.chosen = knobs.call(schedule, decide, refusal);
        last = c.chosen;
        if (refusal.empty()) refusal = refusal_of_parameters();
        if (!seen_choices.insert(str(c.chosen)).second) return std::nullopt;
        if (!refusal.empty()) {
            trials.push_back({std::move(c), {Outcome::Refused, 0, refusal}});
            return std::nullopt;
        }
        c.schedule = program::schedule_of(outputs);
        if (!seen.insert(c.schedule.hash(algorithm)).second) return std::nullopt;
        return c;
    }

    // Candidates are called with the arguments of the algorithm.
    std::string refusal_of_parameters() const {
        const program::Environment all = program::find_transitive_calls(outputs);
        for (const auto &p : program::find_parameters(workload.program(), all)) {
            if (std::ranges::count(workload.parameters(), p->name, &program::Parameter::name))
                continue;
            return str("the schedule asks for the parameter ", p->name,
                       ", which the algorithm does not have, so that it has no value here");
        }
        return "";
    }

    // Finds a candidate without any measurement.
    void look_up() {
        if (log) {
            for (const TuningLog::Choices &choices : log->best_choices()) {
                auto c = candidate(as_given(choices));
                if (!c) continue;
                const Measurement *m = log->find(c->schedule);
                if (m && m->is_valid() && workload.why_refused(c->schedule).empty())
                    return trials.push_back({std::move(*c), *m});
            }
        }
        auto c = candidate(as_in({}));
        if (!c) return;
        const std::string refusal = workload.why_refused(c->schedule);
        trials.push_back(
            {std::move(*c), {refusal.empty() ? Outcome::Measured : Outcome::Refused, 0, refusal}});
    }

    void search_until_stopped() {
        try {
            search();
        } catch (const Stopped &) {
            is_stopped = true;
        }
    }
    void look_around() const {
        if (options.control.stop.stop_requested()) throw Stopped();
    }
    void tell(std::string_view doing, size_t in_batch = 0, double milliseconds = 0) const {
        if (!options.control.progress) return;
        const std::vector<const Trial *> best = fastest();
        double least = best.empty() ? 0 : best[0]->measurement.milliseconds;
        if (milliseconds > 0 && (least == 0 || milliseconds < least)) least = milliseconds;
        options.control.progress({doing, size_t(measured) + in_batch,
                                  size_t(std::max(0, options.trials)), least, seconds()});
    }

    void search() {
        if (!runs_here(workload.target())) {
            throw CompileError(str("the candidates of a template are measured, which this machine "
                                   "cannot do for the target ",
                                   workload.target().to_string(),
                                   "; options.trials = 0 takes the best of a log"));
        }
        const program::Schedule plain = to_schedule(graph, plain_plan(graph), 1);
        MeasureOptions how;
        how.threads = options.parallelism;
        how.stop = options.control.stop;
        tell("running it without a schedule");
        measurer = std::make_unique<Measurer>(workload, plain, how, options.control.measurer);
        const Measurement &reference = measurer->reference();
        if (!reference.is_valid()) {
            throw RuntimeError(str("the pipeline cannot be measured: without a template, it ",
                                   name_of(reference.outcome), ": ", reference.message));
        }
        if (auto all = all_combinations()) return measure_all(std::move(*all));
        sample();
    }

    // Nothing if there are more than trials.
    std::optional<std::vector<Candidate>> all_combinations() {
        const size_t most_calls = 256 + 16 * size_t(options.trials);
        std::vector<Candidate> all;
        last = {};
        for (size_t calls = 0; calls < most_calls; calls++) {
            look_around();
            if (auto c = candidate(as_in(last))) all.push_back(std::move(*c));
            if (all.size() > size_t(options.trials)) break;
            if (!advance(last)) return all;
        }
        seen.clear();
        seen_choices.clear();
        trials.clear();
        return std::nullopt;
    }

    void measure_all(std::vector<Candidate> all) {
        for (size_t i = 0; i < all.size() && !is_over(); i += batch_size()) {
            const size_t end = std::min(all.size(), i + batch_size());
            measure({all.begin() + long(i), all.begin() + long(end)});
        }
    }

    // At random, until a third of the trials is used; then most of them from the best.
    void sample() {
        std::vector<Candidate> first;
        if (log) {
            for (const TuningLog::Choices &choices : log->best_choices()) {
                if (first.size() < parents_kept) add_to(first, as_given(choices));
            }
        }
        add_to(first, as_in({}));
        measure(std::move(first));
        while (!is_over()) {
            std::vector<Candidate> batch;
            for (int tries = 0; tries < 400 && batch.size() < batch_size(); tries++) {
                look_around();
                const std::vector<const Trial *> best = fastest();
                const bool anywhere =
                    best.empty() || measured < options.trials / 3 || random() % 8 == 0;
                add_to(batch,
                       anywhere ? at_random(random)
                                : changed(best[random() % best.size()]->candidate.chosen, random));
            }
            if (batch.empty()) return;
            measure(std::move(batch));
        }
    }
    void add_to(std::vector<Candidate> &batch, const Decide &decide) {
        if (auto c = candidate(decide)) batch.push_back(std::move(*c));
    }

    size_t batch_size() const { return std::max<size_t>(1, options.control.batch); }
    double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }
    bool is_over() const { return measured >= options.trials || seconds() >= options.seconds; }

    std::vector<const Trial *> fastest() const {
        std::vector<const Trial *> all;
        for (const Trial &t : trials) {
            if (t.measurement.is_valid()) all.push_back(&t);
        }
        std::ranges::stable_sort(all, {},
                                 [](const Trial *t) { return t->measurement.milliseconds; });
        if (all.size() > parents_kept) all.resize(parents_kept);
        return all;
    }

    void measure(std::vector<Candidate> batch) {
        batch.resize(std::min(batch.size(), size_t(options.trials - measured)));
        std::vector<std::optional<Measurement>> results(batch.size());
        std::vector<program::Schedule> unknown;
        std::vector<size_t> places;
        for (size_t i = 0; i < batch.size(); i++) {
            const Measurement *known = log ? log->find(batch[i].schedule) : nullptr;
            if (known) {
                results[i] = *known;
            } else {
                unknown.push_back(batch[i].schedule);
                places.push_back(i);
            }
        }
        const std::vector<const Trial *> best = fastest();
        const double hopeless = best.empty() ? 1e300 : 3 * best[0]->measurement.milliseconds;
        size_t done = batch.size() - unknown.size();
        double least = 0;
        const auto told = [&](size_t k, const Measurement &m) {
            const Candidate &c = batch[places[k]];
            results[places[k]] = m;
            if (log) log->add(c.schedule, m, {"", "", c.chosen.texts()});
            if (m.is_valid() && (least == 0 || m.milliseconds < least)) least = m.milliseconds;
            tell("measuring", ++done, least);
        };
        const auto add_trials = [&] {
            for (size_t i = 0; i < batch.size(); i++) {
                if (!results[i]) continue;
                trials.push_back({std::move(batch[i]), std::move(*results[i])});
                measured++;
            }
        };
        tell("measuring", done);
        try {
            (*measurer)(unknown, hopeless, told);
        } catch (const Stopped &) {
            add_trials();
            throw;
        }
        add_trials();
    }

    static TemplateTrial as_result(const Trial &t) {
        return {t.candidate.chosen.texts(), t.measurement.milliseconds, t.measurement.message};
    }
    TemplateResult result() {
        const std::vector<const Trial *> best = fastest();
        if (best.empty() && !is_stopped) refuse();
        TemplateResult r;
        r.is_stopped = is_stopped;
        for (const Trial &t : trials) r.trials.push_back(as_result(t));
        program::replace_schedule(outputs, before);
        if (best.empty()) return r;
        static_cast<TemplateTrial &>(r) = as_result(*best[0]);
        std::string refusal;
        knobs.call(schedule, as_in(best[0]->candidate.chosen), refusal);
        if (!refusal.empty())
            throw CompileError(str("the template refuses what it did before: ", refusal));
        const program::Schedule found = program::schedule_of(outputs);
        r.schedule_source = program::print_schedule_block(algorithm, found);
        r.schedule_python =
            program::print_schedule(algorithm, found, "pipeline", program::Language::Python);
        return r;
    }
    [[noreturn]] void refuse() const {
        std::string first;
        if (!trials.empty()) {
            const auto &[candidate, m] = trials.front();
            first =
                str("; the first, ", candidate.chosen, ", ", name_of(m.outcome), ": ", m.message);
        }
        throw CompileError(str("the template has no schedule that works among the ", trials.size(),
                               " that were tried", first));
    }

    static constexpr size_t parents_kept = 5;
    const ScheduleTemplate &schedule;
    const TuneOptions &options;
    const std::vector<program::FunctionRef> outputs;
    const program::Schedule before;
    const program::Algorithm algorithm;
    const Graph graph;
    const Workload workload;
    std::unique_ptr<TuningLog> log;
    std::unique_ptr<Measurer> measurer;
    std::mt19937_64 random;
    KnobSpace knobs;
    Chosen last;  // in the last call
    std::set<std::string> seen_choices;
    std::set<uint64_t> seen;
    std::vector<Trial> trials;  // and what was refused
    int measured = 0;
    bool is_stopped = false;
    const std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
};

}  // namespace
}  // namespace tessera::autoscheduler

namespace tessera {

TemplateResult tune_template(const Pipeline &pipeline, const ScheduleTemplate &schedule,
                             const Target &target, const TuneOptions &options) {
    return autoscheduler::TemplateSearch(pipeline, schedule, target, options).run();
}

void add_template(const std::string &name,
                  std::function<void(const Pipeline &, Knobs &)> schedule) {
    Pipeline::add_autoscheduler(
        name, [schedule = std::move(schedule)](const Pipeline &pipeline, const Target &target,
                                               const AutoschedulerParams &params,
                                               AutoSchedulerResults *results) {
            const autoscheduler::Options given(params,
                                               {"trials", "seconds", "seed", "log", "parallelism"});
            TuneOptions options;
            options.trials = given.number("trials", options.trials, 0);
            options.seconds = given.number("seconds", options.seconds, 0.0);
            options.seed = given.number<uint64_t>("seed", options.seed, 0);
            options.log = given.text("log");
            options.parallelism = given.number("parallelism", 0, 1);
            options.control = params.control;
            const auto called = [&](Knobs &k) { schedule(pipeline, k); };
            const TemplateResult found = tune_template(pipeline, called, target, options);
            results->schedule_source = found.schedule_source;
            results->schedule_python = found.schedule_python;
            results->milliseconds = found.milliseconds;
            results->trials = size_t(std::ranges::count_if(
                found.trials, [](const TemplateTrial &t) { return t.milliseconds > 0; }));
            results->is_stopped = found.is_stopped;
        });
}

}  // namespace tessera
