#pragma once
#include "autoscheduler/stopped.h"
#include "runtime/tessera_runtime.h"
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

// Measuring in processes of their own, whatever it is that they run: no part of the compiler.
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
// Nothing if no outcome has that name.
std::optional<Outcome> outcome_of(std::string_view name);

struct Measurement {
    Outcome outcome = Outcome::Crashed;
    double milliseconds = 0;  // of a run, on average in the fastest of several samples
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
    uint64_t memory = 16ull << 30;  // bytes of data that one may have, those of this process too
    std::stop_token stop = {};      // Stopped is thrown soon after a stop is requested
};

// Holds what a process runs again and again, and the outputs that this computes.
struct Runnable {
    struct Output {
        tessera_type_t type;
        const uint8_t *data = nullptr;
        size_t bytes = 0;
    };
    std::function<void()> run;  // throws RuntimeError if it fails
    std::vector<Output> outputs;
    std::shared_ptr<void> owner;  // of what these refer to
    // Moves its buffers (Array::place), away from where `outputs` has them; null: they stay there.
    std::function<void(int placement)> place = {};
};

// Runs candidates, each in a process of its own, so that one that crashes, hangs, eats memory or
// computes the wrong thing harms nobody. Only one runs at a time, while others prepare themselves
// if it leaves them a core, and are stopped otherwise.
class MeasuringProcesses {
public:
    // Called in the candidate's process: compiles or loads it. A CompileError is a refusal.
    using Prepare = std::function<Runnable()>;
    using Told = std::function<void(size_t, const Measurement &)>;

    // `output_bytes`: of all outputs together.
    MeasuringProcesses(size_t output_bytes, const MeasureOptions &options);
    ~MeasuringProcesses();
    MeasuringProcesses(const MeasuringProcesses &) = delete;

    // Runs the one whose results the others have to have.
    Measurement run_reference(const Prepare &reference);
    // Returns the measurements in the order of the candidates; see Measurer.
    std::vector<Measurement> operator()(const std::vector<Prepare> &candidates, double hopeless,
                                        const Told &told);
    // Compares a few: all are prepared, and then run in turns, while nothing else does, in one
    // placement of their buffers after the other; see Measurer.
    std::vector<Measurement> in_turns(const std::vector<Prepare> &candidates);
    // The outputs that results are compared with: those of the reference, or of another process
    // that has run it.
    std::span<uint8_t> expected();

private:
    struct Worker;
    struct Shared;
    std::unique_ptr<Worker> start(const Prepare &prepare, bool is_reference, double hopeless);
    [[noreturn]] void work(const Prepare &prepare, bool is_reference, double hopeless, int results,
                           int permission) const;
    class Timer;
    bool wait_for_report(Worker &w, double seconds, const char *what) const;

    MeasureOptions options;
    std::unique_ptr<Shared> shared;  // the outputs of the reference
};

// Fills memory with the random numbers that inputs have: small ones with few digits, so that sums
// of them, and of their products, are exact in whatever order. For that, most of many are zero.
void fill_with_random_values(uint8_t *data, size_t bytes, tessera_type_t type, uint32_t seed);

}  // namespace tessera::autoscheduler
