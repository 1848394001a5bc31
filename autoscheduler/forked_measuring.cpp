#include "autoscheduler/measuring.h"
#include "interpret/buffers.h"
#include "program/environment.h"
#include <algorithm>
#include <iterator>

namespace tessera::autoscheduler {

using program::Schedule;

namespace {

// Returns the sizes of the images that stages in C ask for, which only a call of them tells.
// Dimensions that are estimated keep their estimate.
std::map<Symbol, Box> sizes_asked_for(const Workload &workload, const Schedule &reference) {
    if (std::ranges::none_of(workload.graph().functions, &FunctionNode::is_extern)) return {};
    const program::ScheduledProgram scheduled = program::apply(workload.algorithm(), reference);
    const program::Program program = workload.with(scheduled);
    const driver::CompiledPipeline code(program, driver::jit_target(workload.target()),
                                        workload.externs());
    const program::ProgramCopy copy = program::copy_reachable(program);
    const auto parameters = program::find_parameters(copy.program, copy.environment);
    std::deque<uint64_t> scalars;
    std::deque<interpret::OwnedBuffer> buffers;  // with no memory: the question
    std::vector<void *> arguments;
    for (const auto &p : parameters) {
        if (p->is_buffer && !p->embedded) {
            auto &b = buffers.emplace_back(p->type, workload.layout_of(*p).dims);
            arguments.push_back(&b.buffer);
        } else {
            arguments.push_back(p->is_buffer ? static_cast<void *>(p->buffer)
                                             : &scalars.emplace_back(workload.scalar_bits(*p)));
        }
    }
    for (const ArrayLayout &layout : workload.layouts_of_outputs()) {
        const Type type(TypeCode(layout.type.code), layout.type.bits, 1);
        arguments.push_back(&buffers.emplace_back(type, layout.dims).buffer);
    }
    driver::CallContext context(nullptr, JITHandlers{});
    if (code.call(context.user_context(), arguments) != 0) return {};
    std::map<Symbol, Box> sizes;
    for (size_t i = 0; i < parameters.size(); i++) {
        const program::Parameter &p = *parameters[i];
        if (!p.is_buffer || p.embedded) continue;
        Box &box = sizes[p.name];
        for (int d = 0; d < p.dimensions; d++) {
            const auto &asked = static_cast<tessera_buffer_t *>(arguments[i])->dim[d];
            const bool is_estimated = workload.graph().estimates.extent(p, d).has_value();
            box.push_back(is_estimated ? workload.box_of(p)[size_t(d)]
                                       : Span{asked.min, int64_t(asked.min) + asked.extent - 1});
        }
    }
    return sizes;
}

// Allocates all inputs. Memory for the outputs of a candidate and of the reference is wanted at
// once beside them.
std::unique_ptr<Inputs> inputs_in_memory(const Workload &workload, const Schedule &reference,
                                         const MeasureOptions &options) {
    std::vector<ArrayLayout> all;
    const std::map<Symbol, Box> sizes = sizes_asked_for(workload, reference);
    for (int copies = 0; copies < 2; copies++)
        std::ranges::move(workload.layouts_of_outputs(), std::back_inserter(all));
    for (const auto &p : workload.parameters()) {
        if (!p->is_buffer || p->embedded) continue;
        const auto size = sizes.find(p->name);
        all.push_back(size == sizes.end() ? workload.layout_of(*p)
                                          : workload.layout_of(*p, size->second));
    }
    require_memory(all, options.memory);
    return std::make_unique<Inputs>(workload, sizes);
}

size_t output_bytes(const Workload &workload) {
    size_t bytes = 0;
    for (const ArrayLayout &a : workload.layouts_of_outputs()) bytes += a.bytes();
    return bytes;
}

// A schedule, compiled, with the memory for its outputs.
struct Compiled {
    Compiled(const Workload &workload, Inputs &inputs, const Schedule &schedule)
        : scheduled(program::apply(workload.algorithm(), schedule)),
          code(workload.with(scheduled), driver::jit_target(workload.target()), workload.externs()),
          inputs(inputs), arguments(inputs.of(workload.with(scheduled))) {
        for (const ArrayLayout &layout : workload.layouts_of_outputs()) {
            Array &a = outputs.emplace_back(layout, inputs.count() + outputs.size());
            arguments.push_back(&a.buffer);
        }
    }
    void run() const {
        driver::CallContext context(nullptr, JITHandlers{});
        if (code.call(context.user_context(), arguments) != 0)
            throw RuntimeError(context.message());
    }
    void place(int placement) {
        inputs.place(placement);
        for (Array &a : outputs) a.place(placement);
    }

    program::ScheduledProgram scheduled;
    driver::CompiledPipeline code;
    Inputs &inputs;
    std::deque<Array> outputs;
    std::vector<void *> arguments;
};

class ForkedMeasuring final : public Measuring {
public:
    ForkedMeasuring(const Workload &workload, const Schedule &reference,
                    const MeasureOptions &options)
        : workload(workload), inputs(inputs_in_memory(workload, reference, options)),
          processes(output_bytes(workload), options) {}

    Measurement run_reference(const Schedule &reference) override {
        return processes.run_reference(candidate(reference));
    }
    std::vector<Measurement> measure(const std::vector<Schedule> &schedules, double hopeless,
                                     const Told &told) override {
        return processes(candidates_of(schedules), hopeless, told);
    }
    std::vector<Measurement> in_turns(const std::vector<Schedule> &schedules) override {
        return processes.in_turns(candidates_of(schedules));
    }

private:
    MeasuringProcesses::Prepare candidate(const Schedule &schedule) const {
        return [this, &schedule] {
            auto compiled = std::make_shared<Compiled>(workload, *inputs, schedule);
            Runnable r;
            r.run = [c = compiled.get()] { c->run(); };
            r.place = [c = compiled.get()](int placement) { c->place(placement); };
            for (const Array &a : compiled->outputs)
                r.outputs.push_back({a.buffer.type, a.data(), a.bytes()});
            r.owner = std::move(compiled);
            return r;
        };
    }
    std::vector<MeasuringProcesses::Prepare>
    candidates_of(const std::vector<Schedule> &schedules) const {
        std::vector<MeasuringProcesses::Prepare> candidates;
        for (const Schedule &s : schedules) candidates.push_back(candidate(s));
        return candidates;
    }

    const Workload &workload;
    const std::unique_ptr<Inputs> inputs;  // those of each candidate, in its own process
    MeasuringProcesses processes;
};

}  // namespace

std::unique_ptr<Measuring> measured_by_fork(const Workload &workload, const Schedule &reference,
                                            const MeasureOptions &options) {
    return std::make_unique<ForkedMeasuring>(workload, reference, options);
}

}  // namespace tessera::autoscheduler
