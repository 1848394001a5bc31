#include "autoscheduler/search.h"
#include "autoscheduler/learned_cost.h"
#include "autoscheduler/mutate.h"
#include "autoscheduler/plan_json.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

namespace tessera::autoscheduler {

using program::Schedule;

class Search::Evolution {
public:
    Evolution(const Workload &workload, const Machine &machine, const SearchOptions &options)
        : workload(workload), machine(machine), options(options), random(options.seed) {
        found.sketches = make_sketches(workload.algorithm(), workload.graph().by_hand, machine);
        if (options.takes)
            std::erase_if(found.sketches, [&](const Sketch &s) { return !options.takes(s); });
        for (const Sketch &s : found.sketches)
            costs.push_back(std::make_unique<PlanCosts>(*s.graph, machine));
    }

    bool step(size_t most) {
        batch_limit = std::min(most, trials_in_time());
        if (!is_begun) {
            begin_search();
            if (options.progress && !found.trials.empty()) options.progress(found, seconds());
            return true;
        }
        if (trials_left() == 0 || seconds() >= options.seconds) return false;
        const std::vector<Candidate> batch = next_batch();
        if (batch.empty()) return false;
        measure(batch);
        if (options.progress) options.progress(found, seconds());
        return true;
    }

    // While candidates were timed, others were compiled: the fastest are timed once more, in turns.
    // Whatever disturbed a measurement has made it longer, so that the least of two is nearer to
    // the truth.
    void finish() {
        constexpr size_t most = 6;
        for (Trial &t : found.trials) {
            const Measurement *known =
                options.log ? options.log->find_fastest(t.schedule) : nullptr;
            if (known) note_faster(t, *known);
        }
        if (measured_here == 0) return;
        measured_here = 0;
        std::vector<Trial *> fastest;
        for (Trial &t : found.trials) {
            if (t.measurement.is_valid()) fastest.push_back(&t);
        }
        std::ranges::stable_sort(fastest, {},
                                 [](const Trial *t) { return t->measurement.milliseconds; });
        if (fastest.size() > most) fastest.resize(most);
        if (fastest.size() < 2) return;
        std::vector<Schedule> schedules;
        for (const Trial *t : fastest) schedules.push_back(t->schedule);
        const std::vector<Measurement> again = measurer->in_turns(schedules);
        for (size_t i = 0; i < fastest.size(); i++) take_if_faster(*fastest[i], again[i]);
    }
    const SearchResult &result() const { return found; }

private:
    struct Candidate {
        size_t sketch = 0;
        Plan plan;
        Schedule schedule;
        ProgramFeatures features;
        double estimated = 0;                   // cycles
        double by_model = 0, milliseconds = 0;  // what the model says, and what is expected
        bool is_by_hand = false;                // SimpleResult::by_hand
    };
    // What others are made from.
    struct Parent {
        size_t sketch;
        const Plan *plan;
    };

    void begin_search() {
        is_begun = true;
        const std::vector<Candidate> begin_with = by_rules();
        found.schedule = begin_with[0].schedule;
        if (options.trials <= 0) {
            if (options.uses_model) guess(begin_with);
            return;
        }
        const Graph &graph = workload.graph();
        const Schedule plain = to_schedule(graph, plain_plan(graph), 1);
        measurer = std::make_unique<Measurer>(workload, plain, options.measure);
        const Measurement &reference = measurer->reference();
        if (!reference.is_valid()) {
            throw RuntimeError(str("the pipeline cannot be measured: without a schedule, it ",
                                   name_of(reference.outcome), ": ", reference.message));
        }
        std::vector<Candidate> first = from_near_shapes();
        first.insert(first.begin(), begin_with.begin(), begin_with.end());
        measure_in_time(without_repetition(std::move(first)));
    }
    // The schedules by rules may be many: of those, some at a time where time is limited.
    void measure_in_time(const std::vector<Candidate> &all) {
        constexpr double for_ever = 1e8;
        const size_t most = std::min(all.size(), batch_limit),
                     together = options.seconds < for_ever ? 8 : std::max<size_t>(1, most);
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

    void take_if_faster(Trial &t, const Measurement &again) {
        if (!note_faster(t, again) || !options.log) return;
        options.log->add(t.schedule, again, found.sketches[t.sketch].name, to_json(t.plan));
    }
    bool note_faster(Trial &t, const Measurement &again) {
        const bool is_faster =
            again.is_valid() &&
            (!t.measurement.is_valid() || again.milliseconds < t.measurement.milliseconds);
        if (!is_faster) return false;
        t.measurement = again;
        if (found.milliseconds > 0 && again.milliseconds >= found.milliseconds) return true;
        found.schedule = t.schedule;
        found.milliseconds = again.milliseconds;
        return true;
    }

    // What was found for other shapes is a good beginning.
    std::vector<Candidate> from_near_shapes() const {
        constexpr size_t most = 3;
        std::vector<Candidate> all;
        if (!options.log) return all;
        for (const TuningLog::Near &near : options.log->near_shapes()) {
            if (all.size() == most) break;
            for (size_t s = 0; s < found.sketches.size(); s++) {
                if (found.sketches[s].name != near.sketch) continue;
                const std::optional<Plan> plan = plan_from_json(near.plan, graph(s));
                auto c = plan ? candidate(s, *plan) : std::nullopt;
                if (c) all.push_back(std::move(*c));
            }
        }
        return all;
    }

    double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }
    // How many are expected to end before the time is over; at least one.
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
    const Graph &graph(size_t sketch) const { return *found.sketches[sketch].graph; }

    // The schedules by rules of each sketch: first that by hand, if it is not estimated to be much
    // slower than others, since the estimate does not know which sums are kept in registers, or
    // else that which is estimated to be the fastest; then those that the model expects to be. They
    // take no more than a part of the trials.
    std::vector<Candidate> by_rules() {
        std::vector<Candidate> all;
        for (size_t s = 0; s < found.sketches.size(); s++) {
            const SimpleResult simple = schedule_simply(graph(s), machine, *costs[s]);
            for (const Plan &plan : simple.summits) {
                auto c = candidate(s, plan);
                if (!c) continue;
                c->is_by_hand = simple.by_hand == plan;
                all.push_back(std::move(*c));
            }
        }
        std::ranges::stable_sort(all, {}, &Candidate::estimated);
        if (all.empty()) throw CompileError("no legal schedule was found");
        constexpr double much_slower = 2;
        const auto by_hand = std::ranges::find(all, true, &Candidate::is_by_hand);
        if (by_hand != all.end() && by_hand->estimated < much_slower * all[0].estimated)
            std::rotate(all.begin(), by_hand, by_hand + 1);
        std::ranges::stable_sort(std::span(all).subspan(1), {}, &Candidate::milliseconds);
        const size_t most = size_t(std::max(8, options.trials / 4));
        if (options.trials > 0 && all.size() > most) all.erase(all.begin() + long(most), all.end());
        return all;
    }

    void add_trial(Trial trial, const ProgramFeatures &features) {
        seen.insert(trial.schedule.hash(workload.algorithm()));
        const Measurement &m = trial.measurement;
        if (m.is_valid()) {
            cost.add(features, m.milliseconds);
            if (found.milliseconds == 0 || m.milliseconds < found.milliseconds) {
                found.milliseconds = m.milliseconds;
                found.schedule = trial.schedule;
            }
        }
        found.trials.push_back(std::move(trial));
    }

    // The plans that were measured to be the fastest.
    std::vector<Parent> parents() const {
        constexpr size_t most = 12;
        std::vector<const Trial *> valid;
        for (const Trial &t : found.trials) {
            if (t.measurement.is_valid()) valid.push_back(&t);
        }
        std::ranges::sort(valid, {}, [](const Trial *t) { return t->measurement.milliseconds; });
        std::vector<Parent> all;
        for (const Trial *t : valid) {
            if (all.size() < most) all.push_back({t->sketch, &t->plan});
        }
        if (all.empty()) all.push_back({found.trials[0].sketch, &found.trials[0].plan});
        return all;
    }

    // Nothing if it was measured already, or is no schedule.
    std::optional<Candidate> candidate(size_t sketch, Plan plan) const {
        Schedule schedule = to_schedule(graph(sketch), plan, machine.least_tasks());
        if (seen.contains(schedule.hash(workload.algorithm()))) return std::nullopt;
        const std::optional<Cost> estimate = costs[sketch]->cost(plan);
        // What would take longer to compile than others take to be measured.
        constexpr double most_code = 40e3;
        if (!estimate || (!found.trials.empty() && estimate->code > most_code)) return std::nullopt;
        ProgramFeatures features = costs[sketch]->features(plan, *estimate);
        const double by_model = cost.milliseconds(features);
        return Candidate{sketch,
                         std::move(plan),
                         std::move(schedule),
                         std::move(features),
                         estimate->cycles,
                         by_model,
                         expectation(by_model, estimate->cycles),
                         false};
    }

    // What the model says; but where no measurement will show it wrong, the estimated cost has as
    // much to say: what both take for fast is less often an error that one of them makes.
    double expectation(double by_model, double cycles) const {
        if (options.trials > 0) return by_model;
        return std::sqrt(by_model * cycles / cycles_per_millisecond);
    }

    // A child of the parents, the first of which are the likeliest.
    std::optional<Candidate> child_of(const std::vector<Parent> &parents) {
        const Parent &first =
            parents[std::min(random() % parents.size(), random() % parents.size())];
        const Parent &second = parents[random() % parents.size()];
        Plan plan = *first.plan;
        if (random() % 4 == 0 && second.sketch == first.sketch) {
            plan = crossed(plan, *second.plan, random);
        }
        for (uint64_t changes = 1 + random() % 4; changes > 0; changes--) {
            plan = mutated(graph(first.sketch), plan, machine, random);
        }
        return candidate(first.sketch, std::move(plan));
    }

    // The children of so many generations that are expected to be the fastest, best first: those
    // of one generation are parents of the next, beside the plans that all begins with.
    std::vector<Candidate> generations(int count, int children, const std::vector<Parent> &from) {
        constexpr size_t kept = 64;
        std::vector<Candidate> best;
        std::set<uint64_t> hashes;
        for (int generation = 0; generation < count; generation++) {
            std::vector<Parent> parents;
            for (size_t i = 0; i < std::max(from.size(), std::min<size_t>(best.size(), 24)); i++) {
                if (i < from.size()) parents.push_back(from[i]);
                if (i < best.size()) parents.push_back({best[i].sketch, &best[i].plan});
            }
            std::vector<Candidate> next;
            for (int i = 0; i < children; i++) {
                auto c = child_of(parents);
                if (c && hashes.insert(c->schedule.hash(workload.algorithm())).second)
                    next.push_back(std::move(*c));
            }
            std::ranges::move(next, std::back_inserter(best));
            std::ranges::stable_sort(best, {}, &Candidate::milliseconds);
            if (generation + 1 < count && best.size() > kept)
                best.erase(best.begin() + kept, best.end());
        }
        return best;
    }

    // With no measurement, what is expected decides. What is not expected to be much better than by
    // rules, also by the model alone, is not taken; and in place of what is scheduled as by hand
    // even less, for of the thousands that are looked at, those which are taken for the fastest are
    // often those about which the model is wrong.
    void guess(const std::vector<Candidate> &begin_with) {
        constexpr double clearly_better = 0.9, than_by_hand = 0.5;
        std::vector<Parent> from;
        for (const Candidate &c : begin_with) from.push_back({c.sketch, &c.plan});
        const Candidate *stays = &begin_with[0];
        for (const Candidate &c : begin_with) {
            if (c.is_by_hand && c.milliseconds < stays->milliseconds) stays = &c;
        }
        found.schedule = stays->schedule;
        const double better = stays->is_by_hand ? than_by_hand : clearly_better;
        double least = better * stays->milliseconds;
        auto take = [&](const Candidate &c) {
            const bool is_better = c.milliseconds < least && c.by_model < better * stays->by_model;
            if (!is_better || may_refuse_sizes(c.plan)) return;
            least = c.milliseconds;
            found.schedule = c.schedule;
        };
        std::ranges::for_each(begin_with, take);
        std::ranges::for_each(generations(6, 300, from), take);
    }

    // Where a plan computes its functions.
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

    // Of many changed plans those that are expected to be fast, and a few of the others.
    std::vector<Candidate> next_batch() {
        const size_t wanted = std::min<size_t>(8, trials_left());
        cost.refit();
        std::vector<Candidate> all = various(generations(3, 200, parents()), wanted);
        // One in eight comes from anywhere in the better half.
        if (all.size() > 2 * wanted && wanted > 1) {
            std::swap(all[wanted - 1], all[wanted + random() % (all.size() / 2 - wanted)]);
        }
        if (all.size() > wanted) all.erase(all.begin() + long(wanted), all.end());
        return all;
    }

    void measure(const std::vector<Candidate> &batch) {
        const size_t count = std::min(batch.size(), trials_left());
        std::vector<Schedule> unknown;
        std::vector<size_t> places;
        std::vector<Measurement> measured(count);
        for (size_t i = 0; i < count; i++) {
            if (const Measurement *known = find(batch[i].schedule)) {
                measured[i] = *known;
                continue;
            }
            unknown.push_back(batch[i].schedule);
            places.push_back(i);
        }
        const double best = found.milliseconds;
        // Written at once, so that whoever is killed loses nothing that was measured.
        (*measurer)(unknown, best > 0 ? 3 * best : 1e300, [&](size_t k, const Measurement &m) {
            const Candidate &c = batch[places[k]];
            measured[places[k]] = m;
            measured_here++;
            if (options.log)
                options.log->add(c.schedule, m, found.sketches[c.sketch].name, to_json(c.plan));
        });
        for (size_t i = 0; i < count; i++) {
            const Candidate &c = batch[i];
            add_trial({c.sketch, c.plan, c.schedule, c.milliseconds, measured[i]}, c.features);
        }
    }
    const Measurement *find(const Schedule &schedule) const {
        return options.log ? options.log->find(schedule) : nullptr;
    }

    const Workload &workload;
    const Machine &machine;
    const SearchOptions &options;
    std::mt19937_64 random;
    LearnedCost cost;
    std::set<uint64_t> seen;
    std::vector<std::unique_ptr<PlanCosts>> costs;  // per sketch
    std::unique_ptr<Measurer> measurer;
    bool is_begun = false;
    size_t batch_limit = 0;
    size_t measured_here = 0;  // and not found in the log
    SearchResult found;
    const std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
};

Search::Search(const Workload &workload, const Machine &machine, const SearchOptions &options)
    : evolution(std::make_unique<Evolution>(workload, machine, options)) {}
Search::~Search() = default;

bool Search::step(size_t most) { return evolution->step(most); }
void Search::finish() { evolution->finish(); }
const SearchResult &Search::result() const { return evolution->result(); }

SearchResult search(const Workload &workload, const Machine &machine,
                    const SearchOptions &options) {
    Search all(workload, machine, options);
    while (all.step()) {
    }
    all.finish();
    return all.result();
}

}  // namespace tessera::autoscheduler
