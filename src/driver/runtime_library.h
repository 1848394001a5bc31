#pragma once
#include "base/target.h"
#include <span>
#include <string>
#include <string_view>

namespace tessera::driver {

// The runtime for one machine, as the bytes of a static library; none if the compiler was built
// where there was no compiler for that machine.
struct MachineRuntime {
    const char *target;  // the plain one
    std::string_view library;
};
std::span<const MachineRuntime> machine_runtimes();

// Returns the library for the target's machine. CompileError if there is none.
std::string runtime_library(const Target &target,
                            std::span<const MachineRuntime> runtimes = machine_runtimes());
// Returns the part of it that a library for the target has: nothing with Target::NoRuntime.
std::string runtime_for(const Target &target);

}  // namespace tessera::driver
