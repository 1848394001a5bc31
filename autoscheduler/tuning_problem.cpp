#include "autoscheduler/tuning_problem.h"
#include "autoscheduler/copies.h"
#include "autoscheduler/options.h"
#include "autoscheduler/plan.h"
#include "lang/func.h"
#include "lang/jit_externs.h"
#include "lower/lower.h"
#include <algorithm>

namespace tessera::autoscheduler {
namespace {

// Inputs have Funcs that nobody schedules.
bool is_scheduled_by_hand(const Graph &graph) {
    for (size_t n = 0; n < graph.functions.size(); n++) {
        const FunctionNode &f = graph.functions[n];
        const bool is_input = !f.is_output && image_behind(graph, int(n)) >= 0;
        if (!graph.is_fixed[n] && !f.is_extern && !is_input) return false;
    }
    return true;
}

// No schedule makes up for a level of the user's that cannot be.
void require_legal_levels(const Workload &workload, const Target &target) {
    const Graph &graph = workload.graph();
    if (std::ranges::count(graph.is_fixed, true) == 0) return;
    const auto plain =
        program::apply(workload.algorithm(), to_schedule(graph, plain_plan(graph), 1));
    lower::nests(workload.with(plain), target);
}

}  // namespace

std::vector<program::FunctionRef> outputs_of(const Pipeline &pipeline) {
    std::vector<program::FunctionRef> outputs;
    for (const Func &f : pipeline.outputs()) outputs.push_back(f.function());
    return outputs;
}

TuningProblem::TuningProblem(const Pipeline &pipeline, const Target &target, const Machine &machine)
    : pipeline(pipeline), algorithm(outputs_of(pipeline)),
      graph(algorithm, program::schedule_of(outputs_of(pipeline))),
      workload(pipeline.program(), algorithm, graph, target,
               runs_here(target)
                   ? detail::compile_externs(pipeline.get_jit_externs(), driver::jit_target(target))
                   : driver::Externs()),
      machine(machine) {
    require_legal_levels(workload, target);
}

std::string TuningProblem::why_not_measured() const {
    if (is_scheduled_by_hand(graph)) {
        return "nothing is measured, since each Func is scheduled already; a generator gives "
               "directives of its own where using_autoscheduler() is false";
    }
    if (!runs_here(workload.target())) {
        return str("nothing is measured, since this machine cannot run what is compiled for ",
                   workload.target().to_string());
    }
    return "";
}

}  // namespace tessera::autoscheduler
