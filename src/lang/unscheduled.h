#pragma once
#include "base/target.h"
#include "program/program.h"
#include "program/steps.h"
#include <functional>
#include <optional>

// Schedules for programs that nobody has scheduled, where they are compiled to be run at once.
namespace tessera::detail {

// Finds a schedule for a program; nothing: none is better than what it has. CompileError if it
// cannot say.
using ScheduleFinder =
    std::function<std::optional<program::Schedule>(const program::Program &, const Target &)>;

// Tells how schedules are found. A program that is linked without autoschedulers has no way.
void set_schedule_finder(ScheduleFinder finder);

// Returns the program with a schedule for the GPU that the target names, if it has no schedule at
// all, and the sizes of its outputs are estimated; nothing if it is to run as it is. A program for
// which none is found is warned of.
std::optional<program::ScheduledProgram> scheduled_for_gpu(const program::Program &program,
                                                           const Target &target);

}  // namespace tessera::detail
