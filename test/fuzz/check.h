#pragma once
#include "plan.h"
#include <functional>

namespace tessera::fuzz {

enum class Outcome : uint8_t {
    Agrees,      // native code and lowered code, interpreted, give what the definitions say; of a
                 // plan with kernels where there is no GPU: code can be made, and is not run
    Refused,     // the schedule is refused, with CompileError or a runtime check of the schedule
    Unfinished,  // nothing went wrong as long as it was waited for
    Fails
};

struct Report {
    Outcome outcome = Outcome::Fails;
    std::string kind;  // of failure, in a few words: the same for the same mistake, mostly
    std::string message;
};

// From now on, plans are compiled as C source, too, and compared with machine code: by a C
// compiler, which takes longer than all the rest.
void check_c_source();
// From now on, schedules are the autoscheduler's (auto_schedule.h) in place of the plans'; or are
// these again.
void check_auto_schedules(bool on);

// Computes the plan in all these ways in this process, which may crash. Tells before it runs native
// code that computes so much that the interpreter has given up on it.
Report check_here(const Plan &plan, const std::function<void()> &before_long_run = {});

// Runs the plan twice on the GPU that the driver has, whatever it computes there. Fails if more is
// in use after the second run than after the first.
Report run_on_device(const Plan &plan, const std::function<uint64_t()> &bytes_in_use);

// Does what check_here does, in a process of its own: a crash is a report, and so are more than so
// many seconds of work, unless they are spent in a run that is told of before.
Report check(const Plan &plan, int seconds = 20);

// Checks plans, up to `jobs` at once: `next` gives the next seed (false: no more), `done` is told.
// Checks that still run so many seconds after the last plan was begun are stopped.
void check_many(int jobs, int seconds, const std::function<bool(uint64_t &seed)> &next,
                const std::function<void(uint64_t seed, const Report &)> &done,
                int grace_seconds = 3600);

// A smaller plan that fails in the same way; tries as many as fit into so many seconds.
Plan shrink(const Plan &plan, const std::string &kind, int seconds);

}  // namespace tessera::fuzz
