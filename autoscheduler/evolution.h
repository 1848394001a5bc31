#pragma once
#include "autoscheduler/learned_cost.h"
#include "autoscheduler/plan_costs.h"
#include "autoscheduler/sketch.h"
#include "autoscheduler/workload.h"
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <span>

namespace tessera::autoscheduler {

// A schedule that is worth looking at.
struct Candidate {
    size_t sketch = 0;  // of Evolution::sketches()
    Plan plan;
    program::Schedule schedule;
    ProgramFeatures features;
    Cost estimate;
    double by_model = 0;      // milliseconds
    double by_both = 0;       // the geometric mean of that and of the estimated ones
    bool is_by_hand = false;  // SimpleResult::by_hand
};

// Makes candidates: by rules, and by changing others at random over a few generations, where the
// learned cost says which are promising. The same for the same seed and measurements.
class Evolution {
public:
    // A plan that others are made from.
    struct Parent {
        size_t sketch;
        const Plan *plan;
    };

    // `takes`: which sketches; none: all. All of these must live as long. When a stop is requested,
    // Stopped is thrown.
    Evolution(const Workload &workload, const Machine &machine, uint64_t seed,
              const std::function<bool(const Sketch &)> &takes = {},
              const std::stop_token &stop = {});

    const std::vector<Sketch> &sketches() const { return all_sketches; }
    uint64_t random_number() { return random(); }

    // The schedules by rules of each sketch: first that by hand, if it is not estimated to be much
    // slower than others, since the estimate does not know which sums are kept in registers, or
    // else that which is estimated to be the fastest; then those that are expected to be the
    // fastest by both. Throws CompileError if none is legal.
    std::vector<Candidate> by_rules();

    // Returns what is taken if nothing is measured: one of those by rules, or of those that are
    // made from them.
    Candidate choose(const std::vector<Candidate> &by_rules);

    // Nothing if it was measured already, or is no schedule.
    std::optional<Candidate> candidate(size_t sketch, Plan plan) const;

    // The children of so many generations, best first: those of one generation are parents of the
    // next, beside the plans that all begins with.
    std::vector<Candidate> generations(int count, int children, const std::vector<Parent> &from,
                                       double Candidate::*expected);

    // Learns from a measurement, and makes the schedule no more. `milliseconds`: none, if it is not
    // valid.
    void add(const program::Schedule &schedule, const ProgramFeatures &features,
             std::optional<double> milliseconds);
    void refit() { cost.refit(); }

private:
    std::optional<Candidate> child_of(std::span<const Parent> parents);
    uint64_t hash(const Candidate &c) const { return c.schedule.hash(workload.algorithm()); }

    const Workload &workload;
    const Machine &machine;
    std::mt19937_64 random;
    LearnedCost cost;
    std::set<uint64_t> seen;
    std::vector<Sketch> all_sketches;
    std::vector<std::unique_ptr<PlanCosts>> costs;  // per sketch
};

// The plan of each candidate.
std::vector<Evolution::Parent> as_parents(const std::vector<Candidate> &all);

}  // namespace tessera::autoscheduler
