#pragma once

#include "cpu/problem.h"

namespace tessera::bench {

// Every case of the benchmark.
std::vector<Problem> problems();

}  // namespace tessera::bench
