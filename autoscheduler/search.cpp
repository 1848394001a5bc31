#include "autoscheduler/search.h"
#include "autoscheduler/learned_cost.h"
#include "autoscheduler/mutate.h"
#include <algorithm>
#include <chrono>
#include <iterator>
#include <set>

namespace tessera::autoscheduler {

using program::Schedule;

namespace {

class Evolution {
public:
    Evolution(const Workload &workload, const Machine &machine, const SearchOptions &options,
              const std::vector<bool> &is_fixed)
        : workload(workload), graph(workload.graph()), machine(machine), options(options),
          is_fixed(is_fixed), random(options.seed) {}

    SearchResult operator()() {
        const SimpleResult simple = schedule_simply(workload.algorithm(), graph, machine, is_fixed);
        result.schedule = simple.schedule;
        if (options.trials <= 0) {
            if (options.uses_model) guess(simple);
            return result;
        }
        const Schedule plain = to_schedule(graph, plain_plan(graph), 1, is_fixed);
        Measurer measurer(workload, plain, options.measure);
        if (!measurer.reference().is_valid()) {
            throw RuntimeError(str("the pipeline cannot be measured: without a schedule, it ",
                                   name_of(measurer.reference().outcome), ": ",
                                   measurer.reference().message));
        }
        measure({*candidate(simple.plan)}, measurer);
        while (int(result.trials.size()) < options.trials && seconds() < options.seconds) {
            std::vector<Candidate> batch = next_batch();
            if (batch.empty()) break;
            measure(batch, measurer);
            if (options.progress) options.progress(result, seconds());
        }
        return result;
    }

private:
    struct Candidate {
        Plan plan;
        Schedule schedule;
        ProgramFeatures features;
        double estimated = 0;     // cycles
        double milliseconds = 0;  // that are expected
    };

    double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }

    void add_trial(Trial trial, const ProgramFeatures &features) {
        seen.insert(trial.schedule.hash(workload.algorithm()));
        if (options.log && !options.log->find(trial.schedule)) {
            options.log->add(trial.schedule, trial.measurement);
        }
        const Measurement &m = trial.measurement;
        if (m.is_valid()) {
            cost.add(features, m.milliseconds);
            if (result.milliseconds == 0 || m.milliseconds < result.milliseconds) {
                result.milliseconds = m.milliseconds;
                result.schedule = trial.schedule;
            }
        }
        result.trials.push_back(std::move(trial));
    }

    // The plans that were measured to be the fastest.
    std::vector<const Plan *> parents() const {
        constexpr size_t most = 12;
        std::vector<const Trial *> valid;
        for (const Trial &t : result.trials) {
            if (t.measurement.is_valid()) valid.push_back(&t);
        }
        std::ranges::sort(valid, {}, [](const Trial *t) { return t->measurement.milliseconds; });
        std::vector<const Plan *> plans;
        for (const Trial *t : valid) {
            if (plans.size() < most) plans.push_back(&t->plan);
        }
        if (plans.empty()) plans.push_back(&result.trials[0].plan);
        return plans;
    }

    // Nothing if it was measured already, or is no schedule.
    std::optional<Candidate> candidate(Plan plan) const {
        Schedule schedule = to_schedule(graph, plan, machine.least_tasks(), is_fixed);
        if (seen.contains(schedule.hash(workload.algorithm()))) return std::nullopt;
        try {
            LoopTree tree(graph, program::apply(workload.algorithm(), schedule));
            const Cost estimate = estimate_cost(tree, machine);
            ProgramFeatures features = features_of(tree, estimate, machine);
            const double expected = cost.milliseconds(features);
            return Candidate{std::move(plan), std::move(schedule), std::move(features),
                             estimate.cycles, expected};
        } catch (const CompileError &) {
            return std::nullopt;
        }
    }

    // A child of the parents, the first of which are the likeliest.
    Plan child_of(const std::vector<const Plan *> &parents) {
        const size_t first = std::min(random() % parents.size(), random() % parents.size());
        Plan plan = *parents[first];
        if (random() % 4 == 0) plan = crossed(plan, *parents[random() % parents.size()], random);
        for (uint64_t changes = 1 + random() % 4; changes > 0; changes--) {
            plan = mutated(graph, plan, machine, is_fixed, random);
        }
        return plan;
    }

    // The children of so many generations that are expected to be the fastest, best first: those
    // of one generation are parents of the next, beside the plans that all begins with.
    std::vector<Candidate> generations(int count, int children, std::vector<const Plan *> from) {
        constexpr size_t kept = 64;
        std::vector<Candidate> best;
        std::set<uint64_t> hashes;
        for (int generation = 0; generation < count; generation++) {
            std::vector<const Plan *> parents;
            for (size_t i = 0; i < std::max(from.size(), std::min<size_t>(best.size(), 24)); i++) {
                if (i < from.size()) parents.push_back(from[i]);
                if (i < best.size()) parents.push_back(&best[i].plan);
            }
            std::vector<Candidate> next;
            for (int i = 0; i < children; i++) {
                auto c = candidate(child_of(parents));
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

    // With no measurement, the model alone decides; what it does not know much better stays.
    void guess(const SimpleResult &simple) {
        constexpr double clearly_better = 0.9;
        const std::optional<Candidate> by_rules = candidate(simple.plan);
        if (!by_rules) return;
        const std::vector<Candidate> found = generations(6, 300, {&simple.plan});
        if (found.empty()) return;
        if (found[0].milliseconds < clearly_better * by_rules->milliseconds)
            result.schedule = found[0].schedule;
    }

    // Of many changed plans those that are expected to be fast, and a few of the others.
    std::vector<Candidate> next_batch() {
        const size_t wanted = std::min<size_t>(8, size_t(options.trials) - result.trials.size());
        cost.refit();
        std::vector<Candidate> all = generations(3, 200, parents());
        // One in eight comes from anywhere in the better half.
        if (all.size() > 2 * wanted && wanted > 1) {
            std::swap(all[wanted - 1], all[wanted + random() % (all.size() / 2 - wanted)]);
        }
        if (all.size() > wanted) all.erase(all.begin() + long(wanted), all.end());
        return all;
    }

    void measure(const std::vector<Candidate> &batch, Measurer &measurer) {
        std::vector<Schedule> unknown;
        for (const Candidate &c : batch) {
            const bool is_known = options.log && options.log->find(c.schedule);
            if (!is_known) unknown.push_back(c.schedule);
        }
        const double best = result.milliseconds;
        const std::vector<Measurement> measured = measurer(unknown, best > 0 ? 3 * best : 1e300);
        size_t next = 0;
        for (const Candidate &c : batch) {
            const Measurement *known = options.log ? options.log->find(c.schedule) : nullptr;
            const Measurement m = known ? *known : measured[next++];
            add_trial({c.plan, c.schedule, c.estimated, m}, c.features);
        }
    }

    const Workload &workload;
    const Graph &graph;
    const Machine &machine;
    const SearchOptions &options;
    const std::vector<bool> &is_fixed;
    std::mt19937_64 random;
    LearnedCost cost;
    std::set<uint64_t> seen;
    SearchResult result;
    const std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
};

}  // namespace

SearchResult search(const Workload &workload, const Machine &machine, const SearchOptions &options,
                    const std::vector<bool> &is_fixed) {
    return Evolution(workload, machine, options, is_fixed)();
}

}  // namespace tessera::autoscheduler
