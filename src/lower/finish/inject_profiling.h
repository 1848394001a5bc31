#pragma once
#include "lower/context.h"

namespace tessera::lower {

// With Target::Profile: tells the runtime's profiler which Func is being computed, how much memory
// is allocated, and how many threads work.
//
//     produce f: ...      ->      extern tessera_profiler_enter_func(instance, 1)
//                                 produce f: ...
//                                 extern tessera_profiler_set_current_func(instance, 0)
//
// Function 0 stands for what belongs to no Func. Kernels are timed for the stage whose loops over
// blocks they have, copies between host and device for the buffer:
//
//     gpu_block for b in [0, +8): ...      ->      profiler_device_begin(instance, "f.update(0)")
//                                                  gpu_block for b in [0, +8): ...
//                                                  profiler_device_end(instance)
//
// On flat storage, with copies in their places.
ir::Stmt inject_profiling(const ir::LoweredFunction &pipeline, const Context &context);

}  // namespace tessera::lower
