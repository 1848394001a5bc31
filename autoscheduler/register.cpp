#include "autoscheduler/register.h"
#include "autoscheduler/tune/command.h"

namespace {

constexpr const char *help = R"(Autoschedulers:
  tessera       measures schedules on this machine; its options: trials=64, or 0, for the best of the
                log, or what the cost model takes for the fastest; seconds=; seed=1; parallelism=,
                cores; log=, a file of measurements; report=, a page of HTML; progress=1
  simple        by rules, without measurements; its option: parallelism=
  Mullapudi2016, Adams2019, Li2018
                for programs that were written for Halide: tessera with trials=0
)";

}  // namespace

// Registers them in each program that has the compiler within itself.
namespace {
const bool registered = [] {
    tessera::autoscheduler::register_autoschedulers();
    tessera::add_generator_command("--tune", "finds schedules of several generators",
                                   tessera::autoscheduler::tune_generators);
    tessera::add_generator_help(help);
    return true;
}();
}  // namespace
