#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Spells out a Prefetch as a call of the intrinsic on the address of the region's first element,
// with the extent and the stride in bytes of each dimension. Before storage is flattened.
//
//     prefetch f: {int32} over [a, +n] if c:    ->    if c:
//         body                                            prefetch(address_of(f(a)), n,
//                                                                  f.stride[0] * 4)
//                                                     body
//
// The prefetch of a Func that has no storage at this place is dropped.
ir::Stmt lower_prefetch(const ir::LoweredFunction &pipeline, const Context &context);

}  // namespace tessera::lower
