#include "autoscheduler/search.h"
#include "autoscheduler/mutate.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

namespace tessera::autoscheduler {

using program::Schedule;

namespace {

// Corrects the parts of the estimated cost by what was measured: milliseconds are a sum of them,
// each with a weight.
class Correction {
public:
    using Parts = std::array<double, 5>;

    static Parts parts_of(const Cost &cost) {
        Parts parts = {};
        for (const StageCost &s : cost.stages) {
            parts[0] += s.share * s.compute;
            parts[1] += s.share * s.memory;
            parts[2] += std::max(s.share, s.far_share) * s.far;
            parts[3] += s.overhead;
        }
        parts[4] = 1e4;  // of each call
        return parts;
    }
    void add(const Cost &cost, double milliseconds) {
        known.emplace_back(parts_of(cost), milliseconds);
        fit();
    }
    double milliseconds(const Cost &cost) const { return product(parts_of(cost)); }

private:
    double product(const Parts &parts) const {
        double sum = 0;
        for (size_t i = 0; i < parts.size(); i++) sum += weights[i] * parts[i];
        return sum;
    }
    // Multiplicative updates, which keep weights positive; fast programs weigh more.
    void fit() {
        for (int round = 0; round < 200; round++) {
            Parts up = {}, down = {};
            for (const auto &[parts, measured] : known) {
                const double estimated = product(parts), weight = 1 / (measured * measured);
                for (size_t i = 0; i < parts.size(); i++) {
                    up[i] += weight * parts[i] * measured;
                    down[i] += weight * parts[i] * estimated;
                }
            }
            for (size_t i = 0; i < weights.size(); i++) {
                if (down[i] <= 0) continue;
                weights[i] *= std::sqrt(up[i] / down[i]);
                weights[i] = std::clamp(weights[i], 1e-9, 1e-4);
            }
        }
    }
    Parts weights = {3e-7, 3e-7, 3e-7, 3e-7, 3e-7};  // of a processor of 3 GHz
    std::vector<std::pair<Parts, double>> known;
};

class Evolution {
public:
    Evolution(const Workload &workload, const Machine &machine, const SearchOptions &options,
              const std::vector<bool> &is_fixed)
        : workload(workload), graph(workload.graph()), machine(machine), options(options),
          is_fixed(is_fixed), random(options.seed) {}

    SearchResult operator()() {
        const SimpleResult simple = schedule_simply(workload.algorithm(), graph, machine, is_fixed);
        result.schedule = simple.schedule;
        if (options.trials <= 0) return result;
        const Schedule plain = to_schedule(graph, plain_plan(graph), 1, is_fixed);
        Measurer measurer(workload, plain, options.measure);
        if (!measurer.reference().is_valid()) {
            throw RuntimeError(str("the pipeline cannot be measured: without a schedule, it ",
                                   name_of(measurer.reference().outcome), ": ",
                                   measurer.reference().message));
        }
        measure({{simple.plan, simple.schedule, simple.cost, 0}}, measurer);
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
        Cost cost;
        double milliseconds;  // that are expected
    };

    double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }

    void add_trial(Trial trial, const Cost &cost) {
        seen.insert(trial.schedule.hash(workload.algorithm()));
        if (options.log && !options.log->find(trial.schedule)) {
            options.log->add(trial.schedule, trial.measurement);
        }
        const Measurement &m = trial.measurement;
        if (m.is_valid()) {
            correction.add(cost, m.milliseconds);
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

    std::optional<Candidate> candidate(Plan plan) {
        Schedule schedule = to_schedule(graph, plan, machine.least_tasks(), is_fixed);
        if (seen.contains(schedule.hash(workload.algorithm()))) return std::nullopt;
        try {
            LoopTree tree(graph, program::apply(workload.algorithm(), schedule));
            Cost cost = estimate_cost(tree, machine);
            const double expected = correction.milliseconds(cost);
            return Candidate{std::move(plan), std::move(schedule), std::move(cost), expected};
        } catch (const CompileError &) {
            return std::nullopt;
        }
    }

    // Of many changed plans those that are expected to be fast, and a few of the others.
    std::vector<Candidate> next_batch() {
        constexpr int population = 400;
        const size_t wanted = std::min<size_t>(8, size_t(options.trials) - result.trials.size());
        const std::vector<const Plan *> from = parents();
        std::vector<Candidate> all;
        std::set<uint64_t> hashes;
        for (int i = 0; i < population; i++) {
            // The better a parent, the more often it is taken.
            const size_t first = std::min(random() % from.size(), random() % from.size());
            Plan plan = *from[first];
            if (random() % 4 == 0) plan = crossed(plan, *from[random() % from.size()], random);
            for (uint64_t changes = 1 + random() % 4; changes > 0; changes--) {
                plan = mutated(graph, plan, machine, is_fixed, random);
            }
            auto c = candidate(std::move(plan));
            if (c && hashes.insert(c->schedule.hash(workload.algorithm())).second) {
                all.push_back(std::move(*c));
            }
        }
        std::ranges::stable_sort(all, {}, &Candidate::milliseconds);
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
            add_trial({c.plan, c.schedule, c.cost.cycles, m}, c.cost);
        }
    }

    const Workload &workload;
    const Graph &graph;
    const Machine &machine;
    const SearchOptions &options;
    const std::vector<bool> &is_fixed;
    std::mt19937_64 random;
    Correction correction;
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
