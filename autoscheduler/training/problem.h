#pragma once
#include "autoscheduler/machine_probe.h"
#include "autoscheduler/plan.h"
#include "autoscheduler/workload.h"
#include "driver/compile.h"
#include "lang/jit_externs.h"
#include "lang/pipeline.h"

namespace tessera::autoscheduler::training {

// Everything that a search works on.
struct Problem {
    Problem(const Pipeline &p, int threads, const Target &target = get_host_target())
        : pipeline(p), algorithm(outputs_of(p)),
          graph(algorithm, program::schedule_of(outputs_of(p))),
          workload(p.program(), algorithm, graph, target,
                   detail::compile_externs({}, driver::jit_target(target))),
          machine(this_machine(target, threads)) {}

    program::Schedule scheduled(const Plan &plan) const {
        return to_schedule(graph, plan, machine.least_tasks());
    }
    static std::vector<program::FunctionRef> outputs_of(const Pipeline &p) {
        std::vector<program::FunctionRef> outputs;
        for (const Func &f : p.outputs()) outputs.push_back(f.function());
        return outputs;
    }

    Pipeline pipeline;
    program::Algorithm algorithm;
    Graph graph;
    Workload workload;
    Machine machine;
};

}  // namespace tessera::autoscheduler::training
