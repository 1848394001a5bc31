#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Makes the pipeline report what it does by calls of tessera_trace: loads, stores and realizations
// of the Funcs whose schedules (or the target's features) ask for it. Before storage is flattened.
//
//     f(x) = 3      ->      let v = 3
//                           extern tessera_trace(ctx, make_struct("f", make_struct(v), ...))
//                           f(x) = v
//
// An event's parent is the realization, or else the pipeline, that it is part of.
ir::Stmt inject_tracing(const ir::LoweredFunction &pipeline, const Context &context);

}  // namespace tessera::lower
