#pragma once

#include "cpu/problem.h"

namespace tessera::bench {

// Returns what networks compute row by row, and attention, which is made of it and of products.
std::vector<Problem> row_problems();

}  // namespace tessera::bench
