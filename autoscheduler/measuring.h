#pragma once
#include "autoscheduler/processes.h"
#include "autoscheduler/workload.h"
#include "lang/autoscheduler.h"

namespace tessera::autoscheduler {

// Whoever measures schedules of a workload.
class Measuring {
public:
    using Told = MeasuringProcesses::Told;
    virtual ~Measuring() = default;
    // Runs the schedule whose results the others have to have. It is called first, and once.
    virtual Measurement run_reference(const program::Schedule &reference) = 0;
    // See Measurer.
    virtual std::vector<Measurement> measure(const std::vector<program::Schedule> &schedules,
                                             double hopeless, const Told &told) = 0;
    virtual std::vector<Measurement> in_turns(const std::vector<program::Schedule> &schedules) = 0;
};

// Copies of this process (fork), each of which compiles what it runs. RuntimeError if there is no
// memory for what the reference reads and computes. All but the options must live as long.
std::unique_ptr<Measuring> measured_by_fork(const Workload &workload,
                                            const program::Schedule &reference,
                                            const MeasureOptions &options);

// Threads of this process compile what goes into a bundle, and `measurer` sees to it that this is
// measured: by a program that is started, or on another machine. RuntimeError if there is no folder
// for bundles, CompileError if the pipeline cannot be compiled for a file.
std::unique_ptr<Measuring> measured_in_bundles(const Workload &workload,
                                               const MeasureOptions &options,
                                               BundleMeasurer measurer);

}  // namespace tessera::autoscheduler
