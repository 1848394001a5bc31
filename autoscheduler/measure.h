#pragma once
#include "autoscheduler/measuring.h"

namespace tessera::autoscheduler {

// Compiles and runs schedules of a workload, each in a process of its own, so that one that
// crashes, hangs, eats memory or computes the wrong thing harms nobody. Only one runs at a time.
class Measurer {
public:
    // `reference`: a schedule that is trusted, whose results the others have to have. `measurer`:
    // who measures; none: copies of this process. RuntimeError if there is no memory for what it
    // reads and computes.
    Measurer(const Workload &workload, const program::Schedule &reference,
             const MeasureOptions &options = {}, const BundleMeasurer &measurer = {});
    ~Measurer();
    Measurer(const Measurer &) = delete;

    // Returns the measurements in the order of the schedules. `hopeless`: what takes longer than
    // this many milliseconds in its first run is not run again. `told`: called with the place of
    // each schedule as soon as it is measured. Throws Stopped if that is requested.
    using Told = Measuring::Told;
    std::vector<Measurement> operator()(const std::vector<program::Schedule> &schedules,
                                        double hopeless = 1e300, const Told &told = {});
    // Compares a few: all are compiled, and then run in turns, while nothing else does, with their
    // buffers in several places of memory: the time of each is the median over these.
    std::vector<Measurement> in_turns(const std::vector<program::Schedule> &schedules);
    // The measurement of the reference schedule.
    const Measurement &reference() const { return of_reference; }

private:
    std::unique_ptr<Measuring> who;
    Measurement of_reference;
};

}  // namespace tessera::autoscheduler
