#include "autoscheduler/tuning_problem.h"
#include "lang/func.h"
#include "lang/jit_externs.h"

namespace tessera::autoscheduler {

std::vector<program::FunctionRef> outputs_of(const Pipeline &pipeline) {
    std::vector<program::FunctionRef> outputs;
    for (const Func &f : pipeline.outputs()) outputs.push_back(f.function());
    return outputs;
}

TuningProblem::TuningProblem(const Pipeline &pipeline, const Target &target, const Machine &machine)
    : pipeline(pipeline), algorithm(outputs_of(pipeline)),
      graph(algorithm, program::schedule_of(outputs_of(pipeline))),
      workload(pipeline.program(), algorithm, graph, target,
               detail::compile_externs(pipeline.get_jit_externs(), driver::jit_target(target))),
      machine(machine) {}

}  // namespace tessera::autoscheduler
