#pragma once
#include "autoscheduler/cost/gpu_kernel.h"
#include "autoscheduler/machine/gpu.h"
#include "autoscheduler/space/gpu_plan.h"
#include "autoscheduler/workload.h"
#include <optional>

namespace tessera::autoscheduler {

struct GpuRulesResult {
    program::Schedule schedule;
    std::string rule;         // the rules that made it: "rows by warps: softmax, tiles"
    double microseconds = 0;  // estimated
    // Those that are estimated: not the ones of rows, histograms and tensor cores.
    std::vector<GpuKernel> kernels;
    std::string refusal;     // of what was tried first; empty: it is what was found
    bool is_on_cpu = false;  // no kernels are legal
};

// A schedule for a GPU by rules and the estimated time alone, with no measurement: the same each
// time. It is legal: what the compiler refuses is made simpler until it does not. What no rule is
// for has a kernel for each of its stages.
GpuRulesResult schedule_for_gpu(const Workload &workload, const GpuMachine &machine);

// The same for a program that has no schedule of its own and is compiled to run at once.
// CompileError if no kernels are legal.
std::optional<program::Schedule> schedule_for_run(const program::Program &program,
                                                  const Target &target);

// Decides where functions are computed: climbs from much at the root by the estimated time.
GpuPlan places_by_estimate(const Graph &graph, const GpuMachine &machine);

}  // namespace tessera::autoscheduler
