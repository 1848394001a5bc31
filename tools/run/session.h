#pragma once
#include "arguments.h"

namespace tessera::run {

// Runs a function once, and as often as a benchmark wants: reads the inputs, writes the outputs,
// compares them with what --check says. The exit code: 2 if one is not that. Throws RuntimeError.
int run_session(const Function &f, const Options &options);

}  // namespace tessera::run
