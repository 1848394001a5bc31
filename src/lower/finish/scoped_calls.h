#pragma once
#include "ir/nodes.h"

namespace tessera::lower {

// Some runtime functions begin what has to be ended, whichever way the pipeline is left. A LetStmt
// of such a call means that the end is called behind its body, and when the body fails:
//
//     let m = tessera_mutex_array_create(ctx, n)         tessera_mutex_array_destroy(ctx, m)
//     let e = tessera_profiler_instance_start(..., i)    tessera_profiler_instance_end(ctx, i)
//
// What to evaluate at the end; undefined for any other let.
ir::Expr end_of_scope(const ir::LetStmt &let);

}  // namespace tessera::lower
