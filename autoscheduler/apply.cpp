#include "autoscheduler/register.h"
#include "autoscheduler/simple.h"
#include "lang/func.h"
#include "lang/pipeline.h"
#include "program/print_schedule.h"
#include <algorithm>

namespace tessera::autoscheduler {
namespace {

std::vector<program::FunctionRef> outputs_of(const Pipeline &pipeline) {
    std::vector<program::FunctionRef> outputs;
    for (const Func &f : pipeline.outputs()) outputs.push_back(f.function());
    return outputs;
}

// A function that the user has scheduled by hand stays as it is.
bool is_scheduled(const program::FunctionContents &f) {
    if (!f.schedule.compute_level.means_inlined()) return true;
    return std::ranges::any_of(f.stages, [](const auto &stage) { return stage->schedule.touched; });
}

int cores_of(const AutoschedulerParams &params) {
    auto found = params.extra.find("parallelism");
    if (found == params.extra.end()) return 0;
    const int cores = std::atoi(found->second.c_str());
    if (cores <= 0) {
        throw CompileError(
            str("the option parallelism of an autoscheduler is a number of cores, not ",
                found->second));
    }
    return cores;
}

void schedule_pipeline(const Pipeline &pipeline, const Target &target,
                       const AutoschedulerParams &params, AutoSchedulerResults *results) {
    const std::vector<program::FunctionRef> outputs = outputs_of(pipeline);
    const program::Algorithm algorithm(outputs);
    const program::Schedule by_hand = program::schedule_of(outputs);
    const Graph graph(algorithm, by_hand);
    program::Functions functions = program::functions_of(outputs);
    std::vector<bool> is_fixed;
    for (const FunctionNode &f : graph.functions) {
        is_fixed.push_back(is_scheduled(*functions.at(f.function->name)));
    }
    const Machine machine = Machine::usual(target, cores_of(params));
    const SimpleResult found = schedule_simply(algorithm, graph, machine, is_fixed);
    for (const program::Step &step : found.schedule.steps) program::perform(step, functions);
    results->schedule_source = program::print_schedule(algorithm, program::schedule_of(outputs));
}

}  // namespace

void register_autoschedulers() {
    for (const char *name : {"tessera", "simple"}) {
        Pipeline::add_autoscheduler(name, schedule_pipeline);
    }
    Pipeline::set_default_autoscheduler_name("tessera");
}

}  // namespace tessera::autoscheduler
