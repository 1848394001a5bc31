#pragma once
#include "autoscheduler/machine.h"
#include "autoscheduler/workload.h"
#include "lang/pipeline.h"

namespace tessera::autoscheduler {

std::vector<program::FunctionRef> outputs_of(const Pipeline &pipeline);

// Everything that a search works on: a pipeline as a value, as a graph, and with inputs to run it
// on; and the machine that it is for.
struct TuningProblem {
    // CompileError if the size of an output is not estimated.
    TuningProblem(const Pipeline &pipeline, const Target &target, const Machine &machine);
    TuningProblem(const TuningProblem &) = delete;  // the workload refers to the graph

    // Says why nothing can come of measurements: this machine cannot run the target, or the user
    // has scheduled each Func, so that all candidates are the same. Empty if something can.
    std::string why_not_measured() const;

    const Pipeline pipeline;
    const program::Algorithm algorithm;
    const Graph graph;
    const Workload workload;
    const Machine machine;
};

}  // namespace tessera::autoscheduler
