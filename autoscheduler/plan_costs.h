#pragma once
#include "autoscheduler/features.h"
#include "autoscheduler/plan.h"
#include <memory>
#include <optional>
#include <stop_token>

namespace tessera::autoscheduler {

// Estimated costs and features of many plans of one graph, which differ little from one another.
// It says what a loop tree of the whole schedule would; but it remembers what the parts of plans
// come to. A function at the root, and all that is computed in its loops, are a group, whose cost
// depends on their decisions and on what they have inlined: of other groups no more than how their
// values lie in memory. So a change of one function costs what its group does.
class PlanCosts {
public:
    // Both must live as long. When a stop is requested, all that is asked throws Stopped.
    PlanCosts(const Graph &graph, const Machine &machine, std::stop_token stop = {});
    ~PlanCosts();
    PlanCosts(const PlanCosts &) = delete;

    // Cycles on all cores (Cost::cycles); none, if the plan is no schedule.
    std::optional<double> cycles(const Plan &plan);
    // The same of each stage.
    std::optional<Cost> cost(const Plan &plan);
    // `cost`: that of the plan, which is a schedule.
    ProgramFeatures features(const Plan &plan, const Cost &cost);

    // Returns the cycles of the stages of one function and of what is computed in its loops: no
    // change of its loops saves more. Returns none if the plan is no schedule.
    std::optional<double> cycles_within(const Plan &plan, int function);
    // The values of a stage's variables, each time that it is computed (TreeStage::spans).
    std::optional<std::vector<Span>> spans(const Plan &plan, int stage);

    // Plans that it was asked about, and stages whose cost it had to estimate for that.
    size_t plans() const;
    size_t estimated_stages() const;

private:
    class Memory;
    std::unique_ptr<Memory> memory;
};

}  // namespace tessera::autoscheduler
