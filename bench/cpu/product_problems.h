#pragma once

#include "cpu/problem.h"

namespace tessera::bench {

// Products of matrices: of floats, also with transposed operands, of bytes and of bfloat16s.
std::vector<Problem> product_problems();

}  // namespace tessera::bench
