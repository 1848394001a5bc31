#pragma once
#include "autoscheduler/workload.h"

namespace tessera::autoscheduler {

enum class Outcome : uint8_t {
    Measured,
    Refused,  // the compiler refuses the schedule
    Failed,   // the pipeline reports an error
    Wrong,    // it computes something else
    Crashed,
    TimedOut,  // compiling or running takes too long
};
std::string_view name_of(Outcome o);

struct Measurement {
    Outcome outcome = Outcome::Crashed;
    double milliseconds = 0;  // the least of several runs
    std::string message;      // why there is none

    bool is_valid() const { return outcome == Outcome::Measured; }
};

struct MeasureOptions {
    int threads = 0;            // of a run; 0: as many as the machine has cores
    int compilers = 2;          // that work at once, while one candidate runs
    double seconds = 20;        // that one candidate may take to be compiled, and again to be run
    double run_seconds = 0.15;  // that a candidate is run again and again
    // Time is that of the processor, and not what passes meanwhile: for one thread, on a machine
    // that others use too.
    bool processor_time = false;
    uint64_t memory = 16ull << 30;  // bytes that one may take more than there are now
};

// Compiles and runs schedules of a workload, each in a process of its own, so that one that
// crashes, hangs, eats memory or computes the wrong thing harms nobody. Only one runs at a time.
class Measurer {
public:
    // `reference`: a schedule that is trusted, whose results the others have to have.
    Measurer(const Workload &workload, const program::Schedule &reference,
             const MeasureOptions &options = {});
    ~Measurer();
    Measurer(const Measurer &) = delete;

    // In the order of the schedules. `hopeless`: what takes longer than this many milliseconds in
    // its first run is not run again. `told`: called with the place of each schedule as soon as it
    // is measured.
    using Told = std::function<void(size_t, const Measurement &)>;
    std::vector<Measurement> operator()(const std::vector<program::Schedule> &schedules,
                                        double hopeless = 1e300, const Told &told = {});
    // The measurement of the reference schedule.
    const Measurement &reference() const { return of_reference; }

private:
    struct Worker;
    struct Shared;
    std::unique_ptr<Worker> start(const program::Schedule &schedule, bool is_reference,
                                  double hopeless);
    [[noreturn]] void work(const program::Schedule &schedule, bool is_reference, double hopeless,
                           int results, int permission) const;
    Measurement time(const program::Schedule &schedule, bool is_reference, double hopeless,
                     int results, int permission) const;

    const Workload &workload;
    MeasureOptions options;
    std::unique_ptr<Shared> shared;  // the outputs of the reference
    Measurement of_reference;
};

}  // namespace tessera::autoscheduler
