#pragma once
#include "lower/lower.h"

namespace tessera::driver {

// Lowers with the checks that this build and the target ask for.
ir::Module lower_program(const program::Program &program, const Target &target,
                         lower::LowerOptions options = {});

}  // namespace tessera::driver
