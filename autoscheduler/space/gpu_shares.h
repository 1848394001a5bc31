#pragma once
#include "autoscheduler/cost/gpu_kernel.h"

namespace tessera::autoscheduler {

// Says how a plan's loops are shared out among blocks and threads.
struct GpuSharing {
    // Stages that threads compute for themselves have vectors.
    bool has_vectors = true;
    // Loops of which the compiler may not see that their number of iterations is known are left as
    // they are.
    bool is_careful = false;
};

// Gives all loops of a plan their threads, points and vectors, where functions are computed being
// decided:
//
// - neighbouring threads have neighbouring values in memory, 32 of them at least;
// - a thread has 16 bytes of what is computed point by point, and 2 x 4 points where these share
//   what they read;
// - the tile of a block whose threads share memory is as wide as 64 values with those around it;
// - small dimensions whose size is promised are in each thread: colours share what they are made
// of;
// - there are two blocks for each multiprocessor, if there is work enough.
void share_out(GpuKernels &kernels, GpuPlan &plan, const GpuSharing &sharing = {});

}  // namespace tessera::autoscheduler
