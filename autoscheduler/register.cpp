#include "autoscheduler/register.h"
#include "autoscheduler/tune/command.h"

// In each program that has the compiler within itself.
namespace {
const bool registered = [] {
    tessera::autoscheduler::register_autoschedulers();
    tessera::add_generator_command("--tune", "finds schedules of several generators",
                                   tessera::autoscheduler::tune_generators);
    return true;
}();
}  // namespace
