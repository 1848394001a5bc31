#pragma once
#include "aot/command_line.h"

namespace tessera::autoscheduler {

// `generator --tune ...`: finds schedules of generators, several of them under one budget, and
// writes them as C++, with reports. --help describes it. Throws CompileError or RuntimeError for
// mistakes.
int tune_generators(std::span<const std::string> arguments, std::ostream &out,
                    const GeneratorSource &source);

}  // namespace tessera::autoscheduler
