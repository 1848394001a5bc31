#pragma once

namespace tessera::bench {

// Prints how fast a product of 4096 x 4096 matrices of float16 is with the lines of a schedule for
// tensor cores added one after the other, beside cuBLASLt. Returns 0, or 1 if a result is wrong.
int run_gemm_steps(int rounds);

}  // namespace tessera::bench
