#include "autoscheduler/bundle/candidates.h"
#include "autoscheduler/learned_cost.h"
#include "autoscheduler/mutate.h"
#include "autoscheduler/simple.h"
#include <algorithm>
#include <iterator>
#include <set>

namespace tessera::autoscheduler {
namespace {

class Planner {
public:
    Planner(const Workload &workload, const Machine &machine, uint64_t seed, const TuningLog &log)
        : workload(workload), machine(machine), log(log), random(seed),
          sketches(make_sketches(workload.algorithm(), workload.graph().by_hand, machine)) {}

    std::vector<PlannedCandidate> run(size_t count) {
        for (size_t s = 0; s < sketches.size(); s++) {
            const Graph &graph = *sketches[s].graph;
            add(s, schedule_simply(graph, machine).plan);
        }
        std::ranges::stable_sort(all, {}, &Known::milliseconds);
        const size_t rules = all.size();
        for (int generation = 0; generation < 6 && !all.empty(); generation++) breed(rules);
        std::vector<PlannedCandidate> chosen;
        for (size_t i = 0; i < all.size() && chosen.size() < count; i++) {
            // One in eight comes from anywhere in the better half of what is left.
            const size_t left = all.size() - i;
            if (i >= rules && i % 8 == 7) std::swap(all[i], all[i + random() % ((left + 1) / 2)]);
            const Known &k = all[i];
            if (!log.find(k.schedule))
                chosen.push_back({k.schedule, sketches[k.sketch].name, k.plan});
        }
        return chosen;
    }

private:
    struct Known {
        size_t sketch;
        Plan plan;
        program::Schedule schedule;
        double milliseconds;  // that are expected
    };

    // What may be refused when it runs is no use to a machine that makes no others.
    void add(size_t sketch, Plan plan) {
        if (may_refuse_sizes(plan)) return;
        const Graph &graph = *sketches[sketch].graph;
        program::Schedule schedule = to_schedule(graph, plan, machine.least_tasks());
        if (!seen.insert(schedule.hash(workload.algorithm())).second) return;
        try {
            LoopTree tree(graph, program::apply(workload.algorithm(), schedule));
            const Cost estimate = estimate_cost(tree, machine);
            const double expected = cost.milliseconds(features_of(tree, estimate, machine));
            all.push_back({sketch, std::move(plan), std::move(schedule), expected});
        } catch (const CompileError &) {
            return;  // it makes no legal schedule
        }
    }

    // Changes of the best, and of those by rules, which stay the first ones.
    void breed(size_t rules) {
        constexpr size_t parents = 32, children = 300;
        for (size_t i = 0; i < children; i++) {
            const size_t from = random() % std::min(all.size(), parents);
            const size_t sketch = all[from].sketch;
            Plan plan = all[from].plan;
            for (uint64_t changes = 1 + random() % 3; changes > 0; changes--)
                plan = mutated(*sketches[sketch].graph, plan, machine, random);
            add(sketch, std::move(plan));
        }
        std::ranges::stable_sort(all.begin() + long(rules), all.end(), {}, &Known::milliseconds);
    }

    const Workload &workload;
    const Machine &machine;
    const TuningLog &log;
    std::mt19937_64 random;
    const std::vector<Sketch> sketches;
    const LearnedCost cost;
    std::set<uint64_t> seen;
    std::vector<Known> all;
};

}  // namespace

std::vector<PlannedCandidate> candidates_to_measure(const Workload &workload,
                                                    const Machine &machine, size_t count,
                                                    uint64_t seed, const TuningLog &log) {
    return Planner(workload, machine, seed, log).run(count);
}

}  // namespace tessera::autoscheduler
