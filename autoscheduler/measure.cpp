#include "autoscheduler/measure.h"

namespace tessera::autoscheduler {

using interpret::OwnedBuffer;
using program::Schedule;

namespace {

size_t output_bytes(const Workload &workload) {
    size_t bytes = 0;
    for (const OwnedBuffer &b : workload.new_outputs()) bytes += b.data.size();
    return bytes;
}

// A schedule, compiled, with the memory for its outputs.
struct Compiled {
    Compiled(const Workload &workload, const Schedule &schedule)
        : scheduled(program::apply(workload.algorithm(), schedule)),
          code(workload.with(scheduled), driver::jit_target(workload.target()), workload.externs()),
          outputs(workload.new_outputs()), arguments(workload.inputs_of(workload.with(scheduled))) {
        for (OwnedBuffer &b : outputs) arguments.push_back(&b.buffer);
    }
    void run() const {
        driver::CallContext context(nullptr, JITHandlers{});
        if (code.call(context.user_context(), arguments) != 0)
            throw RuntimeError(context.message());
    }

    program::ScheduledProgram scheduled;
    driver::CompiledPipeline code;
    std::deque<OwnedBuffer> outputs;
    std::vector<void *> arguments;
};

}  // namespace

Measurer::Measurer(const Workload &workload, const Schedule &reference,
                   const MeasureOptions &options)
    : workload(workload), processes(output_bytes(workload), options) {
    of_reference = processes.run_reference(candidate(reference));
}

MeasuringProcesses::Prepare Measurer::candidate(const Schedule &schedule) const {
    return [this, &schedule] {
        auto compiled = std::make_shared<Compiled>(workload, schedule);
        Runnable r;
        r.run = [c = compiled.get()] { c->run(); };
        for (const OwnedBuffer &b : compiled->outputs)
            r.outputs.push_back({b.buffer.type, b.data.data(), b.data.size()});
        r.owner = std::move(compiled);
        return r;
    };
}

std::vector<MeasuringProcesses::Prepare>
Measurer::candidates_of(const std::vector<Schedule> &schedules) const {
    std::vector<MeasuringProcesses::Prepare> candidates;
    for (const Schedule &s : schedules) candidates.push_back(candidate(s));
    return candidates;
}

std::vector<Measurement> Measurer::operator()(const std::vector<Schedule> &schedules,
                                              double hopeless, const Told &told) {
    return processes(candidates_of(schedules), hopeless, told);
}

std::vector<Measurement> Measurer::in_turns(const std::vector<Schedule> &schedules) {
    return processes.in_turns(candidates_of(schedules));
}

}  // namespace tessera::autoscheduler
