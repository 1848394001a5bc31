#pragma once
#include "ir/nodes.h"

// These functions turn TESSERA_RUNTIME_INTRINSICS into calls for code on a CPU.
namespace tessera::lower {

// The call of the runtime's C function, some of which take the user context first:
//
//     semaphore_release(s, 1)  ->  extern int32 tessera_semaphore_release(s, 1)
//     mutex_array_create(n)    ->  extern handle tessera_mutex_array_create(user_context(), n)
//
// Undefined for any other intrinsic.
ir::Expr as_c_call(const ir::IntrinsicCall &c);

// Some begin what has to be ended, whichever way the pipeline is left. A LetStmt of such a call
// means that the end is called behind its body, and when the body fails:
//
//     let m = mutex_array_create(n)            at the end: mutex_array_destroy(m)
//     let b = device_buffer(...)               at the end: device_free(b)
//     let e = device_part(..., p)              at the end: device_release_crop(p)
//     let e = profiler_instance_start(..., i)  if e == 0:  profiler_instance_end(i)
//
// Returns the expression to evaluate at the end; undefined for any other let.
ir::Expr end_of_scope(const ir::LetStmt &let);

}  // namespace tessera::lower
