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
// Function 0 stands for what belongs to no Func. On flat storage.
ir::Stmt inject_profiling(const ir::LoweredFunction &pipeline, const Context &context);

}  // namespace tessera::lower
