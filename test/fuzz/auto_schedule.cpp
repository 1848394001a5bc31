#include "auto_schedule.h"
#include <autoscheduler/mutate.h>
#include <autoscheduler/simple.h>
#include <autoscheduler/sketch.h>
#include <autoscheduler/space/gpu_rules.h>
#include <autoscheduler/workload.h>

namespace tessera::fuzz {

using namespace tessera::autoscheduler;

namespace {

bool is_legal(const program::Algorithm &algorithm, const Graph &graph,
              const program::Schedule &schedule) {
    try {
        const LoopTree tree(graph, program::apply(algorithm, schedule));
        return true;
    } catch (const CompileError &) {
        return false;
    }
}

// Throws InternalError if the compiler takes the pipeline without a schedule, but not with the one
// by rules.
void require_legal(const program::Program &program, const program::Algorithm &algorithm,
                   const Graph &graph, const program::Schedule &by_rules) {
    const Workload workload(program, algorithm, graph, get_jit_target_from_environment());
    const std::string refusal = workload.why_refused(by_rules);
    if (refusal.empty()) return;
    const std::string plain = workload.why_refused(to_schedule(graph, plain_plan(graph), 1));
    if (plain.empty()) throw InternalError(str("the schedule by rules is refused: ", refusal));
}

// Estimates the sizes of the outputs, `larger` times what they will be, and returns these.
std::vector<program::FunctionRef> estimated_outputs(const Plan &plan, Built &built, int larger) {
    std::vector<program::FunctionRef> outputs;
    const std::vector<int> first = minima(plan);
    for (Func &f : built.pipeline.outputs()) {
        Region estimates;
        for (size_t d = 0; d < size_t(f.dimensions()); d++) {
            estimates.emplace_back(first[d], std::max(1, plan.size[d] * larger));
        }
        f.set_estimates(estimates);
        outputs.push_back(f.function());
    }
    return outputs;
}

void perform(const std::vector<program::FunctionRef> &outputs, const Graph &graph,
             const program::Schedule &schedule) {
    program::Functions functions = program::functions_of(outputs);
    for (const program::Step &step : steps_of_plan(graph, schedule)) {
        program::perform(step, functions);
    }
}

// By rules, for a GPU of one capability or another: schedules for large outputs are legal for small
// ones, too.
void schedule_kernels(const Plan &plan, Built &built) {
    std::mt19937_64 random(plan.seed);
    const int larger[] = {1, 1, 7, 100};
    const auto outputs = estimated_outputs(plan, built, larger[random() % 4]);
    const program::Algorithm algorithm(outputs);
    const Graph graph(algorithm, program::schedule_of(outputs));
    const Target target = target_of_kernels(plan);
    const Workload workload(built.pipeline.program(), algorithm, graph, target);
    const GpuRulesResult found = schedule_for_gpu(workload, GpuMachine::usual(target));
    perform(outputs, graph, found.schedule);
}

}  // namespace

Target target_of_kernels(const Plan &plan) {
    constexpr Target::Feature capabilities[] = {Target::CUDACapability75, Target::CUDACapability80,
                                                Target::CUDACapability90};
    return get_jit_target_from_environment()
        .with_feature(Target::CUDA)
        .with_feature(capabilities[plan.seed % 3]);
}

void schedule_automatically(const Plan &plan, Built &built) {
    if (is_for_gpu(plan)) return schedule_kernels(plan, built);
    const auto outputs = estimated_outputs(plan, built, 1);
    const program::Algorithm algorithm(outputs);
    const Machine machine = Machine::usual(get_jit_target_from_environment(), 2);
    std::mt19937_64 random(plan.seed);
    const std::vector<Sketch> sketches =
        make_sketches(algorithm, program::schedule_of(outputs), machine);
    const Graph &graph = *sketches[random() % sketches.size()].graph;
    autoscheduler::Plan changed = schedule_simply(graph, machine).plan;
    program::Schedule schedule = to_schedule(graph, changed, 8);
    require_legal(built.pipeline.program(), algorithm, graph, schedule);
    for (uint64_t changes = random() % 12; changes > 0; changes--) {
        autoscheduler::Plan next = mutated(graph, changed, machine, random);
        program::Schedule of_next = to_schedule(graph, next, 8);
        // A schedule that may refuse sizes that the oracle takes is not compared with it.
        if (may_refuse_sizes(next) || !is_legal(algorithm, graph, of_next)) continue;
        changed = std::move(next);
        schedule = std::move(of_next);
    }
    perform(outputs, graph, schedule);
}

}  // namespace tessera::fuzz
