#include "autoscheduler/evolution.h"
#include "autoscheduler/mutate.h"
#include "autoscheduler/simple.h"
#include <algorithm>
#include <cmath>
#include <iterator>

namespace tessera::autoscheduler {

Evolution::Evolution(const Workload &workload, const Machine &machine, uint64_t seed,
                     const std::function<bool(const Sketch &)> &takes, const std::stop_token &stop)
    : workload(workload), machine(machine), random(seed),
      all_sketches(make_sketches(workload.algorithm(), workload.graph().by_hand, machine)) {
    if (takes) std::erase_if(all_sketches, [&](const Sketch &s) { return !takes(s); });
    for (const Sketch &s : all_sketches)
        costs.push_back(std::make_unique<PlanCosts>(*s.graph, machine, stop));
}

std::vector<Candidate> Evolution::by_rules() {
    std::vector<Candidate> all;
    for (size_t s = 0; s < all_sketches.size(); s++) {
        const SimpleResult simple = schedule_simply(*all_sketches[s].graph, machine, *costs[s]);
        for (const Plan &plan : simple.summits) {
            auto c = candidate(s, plan);
            if (!c) continue;
            c->is_by_hand = simple.by_hand == plan;
            all.push_back(std::move(*c));
        }
    }
    auto cycles = [](const Candidate &c) { return c.estimate.cycles; };
    std::ranges::stable_sort(all, {}, cycles);
    if (all.empty()) throw CompileError("no legal schedule was found");
    constexpr double much_slower = 2;
    const auto by_hand = std::ranges::find(all, true, &Candidate::is_by_hand);
    if (by_hand != all.end() && cycles(*by_hand) < much_slower * cycles(all[0]))
        std::rotate(all.begin(), by_hand, by_hand + 1);
    std::ranges::stable_sort(std::span(all).subspan(1), {}, &Candidate::by_both);
    return all;
}

// A candidate that is not expected to be much better than by rules, also by the model alone, is not
// taken; and in place of what is scheduled as by hand even less, for of the thousands that are
// looked at, those which are taken for the fastest are often those about which the model is wrong.
// If both take a candidate for fast, that is less often an error than if one of them does.
Candidate Evolution::choose(const std::vector<Candidate> &by_rules) {
    constexpr double clearly_better = 0.9, than_by_hand = 0.5;
    Candidate best = by_rules[0];
    for (const Candidate &c : by_rules) {
        if (c.is_by_hand && c.by_both < best.by_both) best = c;
    }
    const double better = best.is_by_hand ? than_by_hand : clearly_better,
                 least_by_model = better * best.by_model;
    double least = better * best.by_both;
    auto take = [&](const Candidate &c) {
        const bool is_better = c.by_both < least && c.by_model < least_by_model;
        if (!is_better || may_refuse_sizes(c.plan)) return;
        least = c.by_both;
        best = c;
    };
    std::ranges::for_each(by_rules, take);
    std::ranges::for_each(generations(6, 300, as_parents(by_rules), &Candidate::by_both), take);
    return best;
}

std::optional<Candidate> Evolution::candidate(size_t sketch, Plan plan) const {
    program::Schedule schedule =
        to_schedule(*all_sketches[sketch].graph, plan, machine.least_tasks());
    if (seen.contains(schedule.hash(workload.algorithm()))) return std::nullopt;
    std::optional<Cost> estimate = costs[sketch]->cost(plan);
    if (!estimate) return std::nullopt;
    ProgramFeatures features = costs[sketch]->features(plan, *estimate);
    const double by_model = cost.milliseconds(features),
                 by_both = std::sqrt(by_model * estimate->cycles / cycles_per_millisecond);
    return Candidate{sketch,
                     std::move(plan),
                     std::move(schedule),
                     std::move(features),
                     std::move(*estimate),
                     by_model,
                     by_both,
                     false};
}

// The first parents are the likeliest.
std::optional<Candidate> Evolution::child_of(std::span<const Parent> parents) {
    const Parent &first = parents[std::min(random() % parents.size(), random() % parents.size())];
    const Parent &second = parents[random() % parents.size()];
    Plan plan = *first.plan;
    if (random() % 4 == 0 && second.sketch == first.sketch) {
        plan = crossed(plan, *second.plan, random);
    }
    for (uint64_t changes = 1 + random() % 4; changes > 0; changes--) {
        plan = mutated(*all_sketches[first.sketch].graph, plan, machine, random);
    }
    std::optional<Candidate> child = candidate(first.sketch, std::move(plan));
    // Larger code takes longer to compile than others take to be measured.
    constexpr double most_code = 40e3;
    if (child && child->estimate.code > most_code) return std::nullopt;
    return child;
}

std::vector<Candidate> Evolution::generations(int count, int children,
                                              const std::vector<Parent> &from,
                                              double Candidate::*expected) {
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
            if (c && hashes.insert(hash(*c)).second) next.push_back(std::move(*c));
        }
        std::ranges::move(next, std::back_inserter(best));
        std::ranges::stable_sort(best, {}, expected);
        if (generation + 1 < count && best.size() > kept)
            best.erase(best.begin() + kept, best.end());
    }
    return best;
}

void Evolution::add(const program::Schedule &schedule, const ProgramFeatures &features,
                    std::optional<double> milliseconds) {
    seen.insert(schedule.hash(workload.algorithm()));
    if (milliseconds) cost.add(features, *milliseconds);
}

std::vector<Evolution::Parent> as_parents(const std::vector<Candidate> &all) {
    std::vector<Evolution::Parent> parents;
    for (const Candidate &c : all) parents.push_back({c.sketch, &c.plan});
    return parents;
}

}  // namespace tessera::autoscheduler
