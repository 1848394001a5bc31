#include "autoscheduler/search.h"
#include "autoscheduler/evolution.h"
#include "autoscheduler/plan_json.h"
#include <algorithm>
#include <chrono>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <span>

namespace tessera::autoscheduler {

using program::Schedule;

class Search::Run {
public:
    Run(const Workload &workload, const Machine &machine, const SearchOptions &options)
        : workload(workload), options(options),
          evolution(workload, machine, options.seed, options.takes, options.control.stop) {
        found.sketches = evolution.sketches();
    }

    bool step(size_t most) {
        try {
            return !is_stopped() && next_step(most);
        } catch (const Stopped &) {
            found.is_stopped = true;
            return false;
        }
    }
    // A stop during the comparison leaves what was known before it.
    void finish() {
        try {
            if (!is_stopped()) compare();
        } catch (const Stopped &) {
            found.is_stopped = true;
        }
        decide();
    }
    const SearchResult &result() const { return found; }

private:
    size_t batch_size() const { return std::max<size_t>(1, options.control.batch); }
    bool is_stopped() {
        found.is_stopped |= options.control.stop.stop_requested();
        return found.is_stopped;
    }
    bool next_step(size_t most) {
        batch_limit = std::min(most, trials_in_time());
        if (!is_begun) {
            begin_search();
            return true;
        }
        if (!measurer || trials_left() == 0 || seconds() >= options.seconds) return false;
        const std::vector<Candidate> batch = next_batch();
        if (batch.empty()) return false;
        measure(batch);
        return true;
    }

    // While candidates were timed, others were compiled, and one may have been lucky: the fastest
    // run in turns, and with them those by rules and by the model alone. Their times decide.
    void compare() {
        if (options.log) {
            for (Trial &t : found.trials) t.in_turns = options.log->in_turns(t.schedule);
        }
        if (measured_here > 0) run_in_turns(fastest_trials());
        measured_here = 0;
    }
    void decide() {
        std::vector<Times> times;
        for (const Trial &t : found.trials) times.push_back(t.times());
        const std::optional<size_t> best = fastest_of(times);
        if (!best) {
            if (!is_chosen && !found.is_stopped) choose_unmeasured();
            return;
        }
        const Trial &t = found.trials[*best];
        found.schedule = t.schedule;
        found.milliseconds = t.times().counted();
    }

    void begin_search() {
        is_begun = true;
        tell("choosing by rules");
        std::vector<Candidate> begin_with = evolution.by_rules();
        for (const Candidate &c : begin_with) by_rules.push_back(c.schedule);
        unmeasured_choices = {by_rules[0]};
        std::optional<Candidate> chosen;
        if (options.uses_model) {
            tell("choosing by the model");
            chosen = evolution.choose(begin_with);
            unmeasured_choices.push_back(chosen->schedule);
        }
        if (options.trials <= 0 || batch_limit == 0) return choose_unmeasured();
        tell("running it without a schedule");
        MeasureOptions how = options.measure;
        how.stop = options.control.stop;
        measurer = std::make_unique<Measurer>(workload, plain(), how, options.control.measurer);
        const Measurement &reference = measurer->reference();
        if (!reference.is_valid()) {
            throw RuntimeError(str("the pipeline cannot be measured: without a schedule, it ",
                                   name_of(reference.outcome), ": ", reference.message));
        }
        // By rules no more than a part of the trials; those that a search without any measurement
        // ends with are first.
        std::ranges::stable_sort(std::span(begin_with).subspan(1), {}, &Candidate::by_model);
        const size_t most = size_t(std::max(8, options.trials / 4));
        if (begin_with.size() > most) begin_with.resize(most);
        if (chosen) begin_with.insert(begin_with.begin() + 1, std::move(*chosen));
        std::ranges::move(from_near_shapes(), std::back_inserter(begin_with));
        measure_in_time(without_repetition(std::move(begin_with)));
    }
    Schedule plain() const {
        const Graph &graph = workload.graph();
        return to_schedule(graph, plain_plan(graph), 1);
    }
    // Chooses the schedule that is expected to be the fastest of those that the compiler accepts.
    // It tries only a few of the schedules by rules, since all may be refused for one reason.
    void choose_unmeasured() {
        constexpr size_t most = 8;
        is_chosen = true;
        std::vector<Schedule> all(unmeasured_choices.rbegin(), unmeasured_choices.rend());
        for (const Schedule &s : by_rules) {
            if (all.size() < most) all.push_back(s);
        }
        all.push_back(plain());
        std::string refusal;
        for (const Schedule &s : all) {
            if (has_failed(s)) continue;
            refusal = workload.why_refused(s);
            found.schedule = s;
            if (refusal.empty()) return;
        }
        throw CompileError(refusal);
    }
    // Returns true if it was measured, and more is wrong with it than that it took too long.
    bool has_failed(const Schedule &schedule) const {
        const auto trial = std::ranges::find(found.trials, schedule, &Trial::schedule);
        return trial != found.trials.end() && !trial->measurement.is_valid() &&
               trial->measurement.outcome != Outcome::TimedOut;
    }

    void tell(std::string_view doing, double milliseconds = 0, size_t in_batch = 0) const {
        if (!options.control.progress) return;
        const double least = found.milliseconds > 0 && milliseconds > 0
                                 ? std::min(found.milliseconds, milliseconds)
                                 : std::max(found.milliseconds, milliseconds);
        options.control.progress({doing, found.trials.size() + in_batch,
                                  size_t(std::max(0, options.trials)), least, seconds()});
    }

    // The schedules by rules may be many: of those, some at a time where time is limited.
    void measure_in_time(const std::vector<Candidate> &all) {
        constexpr double for_ever = 1e8;
        const size_t most = std::min(all.size(), batch_limit),
                     together =
                         options.seconds < for_ever ? batch_size() : std::max<size_t>(1, most);
        for (size_t i = 0; i < most; i += together) {
            if (i > 0 && seconds() >= options.seconds) return;
            batch_limit = std::min(together, most - i);
            measure({all.begin() + long(i), all.begin() + long(i + batch_limit)});
        }
    }
    // Plans that differ may make the same schedule, which is measured once: a search that goes on
    // by its log, which knows one time of each, is to decide as this one does.
    std::vector<Candidate> without_repetition(std::vector<Candidate> all) const {
        std::set<uint64_t> hashes;
        std::erase_if(all, [&](const Candidate &c) {
            return !hashes.insert(c.schedule.hash(workload.algorithm())).second;
        });
        return all;
    }

    // Those that took the least time; of one that ran in turns before, that time counts.
    std::vector<Trial *> fastest_trials() {
        constexpr size_t most = 6;
        const auto last_time = [](const Trial *t) {
            return t->in_turns > 0 ? t->in_turns : t->measurement.milliseconds;
        };
        std::vector<Trial *> fastest;
        for (Trial &t : found.trials) {
            if (t.measurement.is_valid()) fastest.push_back(&t);
        }
        std::ranges::stable_sort(fastest, {}, last_time);
        size_t count = 0;
        std::erase_if(fastest, [&](const Trial *t) {
            const bool is_unmeasured_choice =
                std::ranges::find(unmeasured_choices, t->schedule) != unmeasured_choices.end();
            return count++ >= most && !is_unmeasured_choice;
        });
        return fastest;
    }
    void run_in_turns(const std::vector<Trial *> &trials) {
        if (trials.size() < 2) return;
        std::vector<Schedule> schedules;
        for (const Trial *t : trials) schedules.push_back(t->schedule);
        tell("comparing the fastest");
        const std::vector<Measurement> measured = measurer->in_turns(schedules);
        for (size_t i = 0; i < trials.size(); i++) {
            Trial &t = *trials[i];
            const Measurement &m = measured[i];
            t.in_turns = m.is_valid() ? m.milliseconds : std::numeric_limits<double>::infinity();
            if (!options.log) continue;
            const TuningLog::Origin from = {found.sketches[t.sketch].name, to_json(t.plan), {}};
            options.log->add_in_turns(t.schedule, m, from);
        }
    }

    // Schedules that were found for other shapes are a good beginning.
    std::vector<Candidate> from_near_shapes() const {
        constexpr size_t most = 3;
        std::vector<Candidate> all;
        if (!options.log) return all;
        for (const TuningLog::Near &near : options.log->near_shapes()) {
            if (all.size() == most) break;
            for (size_t s = 0; s < found.sketches.size(); s++) {
                if (found.sketches[s].name != near.sketch) continue;
                const std::optional<Plan> plan =
                    plan_from_json(near.plan, *found.sketches[s].graph);
                auto c = plan ? evolution.candidate(s, *plan) : std::nullopt;
                if (c) all.push_back(std::move(*c));
            }
        }
        return all;
    }

    double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }
    // Returns how many are expected to end before the time is over; at least one.
    size_t trials_in_time() const {
        constexpr size_t most = 1 << 20;
        if (found.trials.empty()) return most;
        const double each = seconds() / double(found.trials.size()),
                     left = options.seconds - seconds();
        return size_t(std::clamp(left / std::max(each, 1e-9), 1.0, double(most)));
    }
    size_t trials_left() const {
        const int left = std::max(0, options.trials - int(found.trials.size()));
        return std::min(size_t(left), batch_limit);
    }

    void add_trial(Trial trial, const ProgramFeatures &features) {
        const Measurement &m = trial.measurement;
        evolution.add(trial.schedule, features,
                      m.is_valid() ? std::optional(m.milliseconds) : std::nullopt);
        if (m.is_valid() && (found.milliseconds == 0 || m.milliseconds < found.milliseconds)) {
            found.milliseconds = m.milliseconds;
            found.schedule = trial.schedule;
        }
        found.trials.push_back(std::move(trial));
    }

    // The plans that were measured to be the fastest.
    std::vector<Evolution::Parent> parents() const {
        constexpr size_t most = 12;
        std::vector<const Trial *> valid;
        for (const Trial &t : found.trials) {
            if (t.measurement.is_valid()) valid.push_back(&t);
        }
        std::ranges::sort(valid, {}, [](const Trial *t) { return t->measurement.milliseconds; });
        std::vector<Evolution::Parent> all;
        for (const Trial *t : valid) {
            if (all.size() < most) all.push_back({t->sketch, &t->plan});
        }
        if (all.empty()) all.push_back({found.trials[0].sketch, &found.trials[0].plan});
        return all;
    }

    // Returns where a plan computes its functions.
    static std::vector<int> places_of(const Candidate &c) {
        std::vector<int> places = {int(c.sketch)};
        for (const FunctionPlan &f : c.plan.functions) {
            places.push_back(int(f.place));
            places.push_back(f.at);
        }
        return places;
    }
    // The same, in another order: no more than a quarter of the first ones compute all functions
    // in the same places, so that a batch tries several.
    static std::vector<Candidate> various(std::vector<Candidate> all, size_t wanted) {
        const size_t most = std::max<size_t>(1, wanted / 4);
        std::map<std::vector<int>, size_t> taken;
        std::vector<Candidate> first, rest;
        for (Candidate &c : all) {
            const bool is_new = taken[places_of(c)]++ < most;
            (is_new ? first : rest).push_back(std::move(c));
        }
        std::ranges::move(rest, std::back_inserter(first));
        return first;
    }

    // Returns those of many changed plans that are expected to be fast, and one of the others.
    std::vector<Candidate> next_batch() {
        const size_t wanted = std::min(batch_size(), trials_left());
        tell("changing the fastest");
        evolution.refit();
        std::vector<Candidate> all =
            various(evolution.generations(3, 200, parents(), &Candidate::by_model), wanted);
        // One in eight comes from anywhere in the better half.
        if (all.size() > 2 * wanted && wanted > 1) {
            std::swap(all[wanted - 1],
                      all[wanted + evolution.random_number() % (all.size() / 2 - wanted)]);
        }
        if (all.size() > wanted) all.erase(all.begin() + long(wanted), all.end());
        return all;
    }

    void measure(const std::vector<Candidate> &batch) {
        const size_t count = std::min(batch.size(), trials_left());
        std::vector<Schedule> unknown;
        std::vector<size_t> places;
        std::vector<std::optional<Measurement>> measured(count);
        tell("measuring");
        for (size_t i = 0; i < count; i++) {
            if (const Measurement *known = find(batch[i].schedule)) {
                measured[i] = *known;
                continue;
            }
            unknown.push_back(batch[i].schedule);
            places.push_back(i);
        }
        const double best = found.milliseconds;
        size_t done = count - unknown.size();
        double least = 0;
        // Written at once, so that whoever is killed loses nothing that was measured.
        const auto told = [&](size_t k, const Measurement &m) {
            const Candidate &c = batch[places[k]];
            measured[places[k]] = m;
            measured_here++;
            if (m.is_valid() && (least == 0 || m.milliseconds < least)) least = m.milliseconds;
            tell("measuring", least, ++done);
            if (options.log)
                options.log->add(c.schedule, m,
                                 {found.sketches[c.sketch].name, to_json(c.plan), {}});
        };
        const auto add_trials = [&] {
            for (size_t i = 0; i < count; i++) {
                const Candidate &c = batch[i];
                if (!measured[i]) continue;
                add_trial({c.sketch, c.plan, c.schedule, c.by_model, *measured[i], 0}, c.features);
            }
        };
        try {
            (*measurer)(unknown, best > 0 ? 3 * best : 1e300, told);
        } catch (const Stopped &) {
            add_trials();
            throw;
        }
        add_trials();
        tell("measuring");
    }
    const Measurement *find(const Schedule &schedule) const {
        return options.log ? options.log->find(schedule) : nullptr;
    }

    const Workload &workload;
    const SearchOptions &options;
    Evolution evolution;
    std::unique_ptr<Measurer> measurer;
    bool is_begun = false, is_chosen = false;
    std::vector<Schedule> by_rules;
    std::vector<Schedule> unmeasured_choices;  // by rules, and by the model
    size_t batch_limit = 0;
    size_t measured_here = 0;  // and not found in the log
    SearchResult found;
    const std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
};

Times Trial::times() const {
    return {measurement.is_valid() ? measurement.milliseconds : 0, in_turns};
}

Search::Search(const Workload &workload, const Machine &machine, const SearchOptions &options)
    : run(std::make_unique<Run>(workload, machine, options)) {}
Search::~Search() = default;

bool Search::step(size_t most) { return run->step(most); }
void Search::finish() { run->finish(); }
const SearchResult &Search::result() const { return run->result(); }

SearchResult search(const Workload &workload, const Machine &machine,
                    const SearchOptions &options) {
    Search all(workload, machine, options);
    while (all.step()) {
    }
    all.finish();
    return all.result();
}

}  // namespace tessera::autoscheduler
