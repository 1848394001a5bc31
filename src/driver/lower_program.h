#pragma once
#include "lower/lower.h"

namespace tessera::driver {

// Lowers with the checks that this build and the target ask for.
ir::Module lower_program(const program::Program &program, const Target &target,
                         lower::LowerOptions options = {});

// Returns true if loops that are to be unrolled may have any extent: as the environment has it.
bool permits_failed_unroll();

}  // namespace tessera::driver
