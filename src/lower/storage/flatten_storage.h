#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Gives every Func flat memory: Realize, Provide and Call become Allocate, Store and Load with
// one-dimensional indices, the sum of (argument - min) * stride over the dimensions.
//
//     realize f: {int32} over [a, +n], [b, +m]      let f_min_0 = a, f_extent_0 = n, ...
//     f(x, y) = 1                                   let f_stride_1 = n
//     g(x, y) = f(x, y)                       ->    allocate f: int32[n, m]
//                                                   f[x - f_min_0 + (y - f_min_1) * f_stride_1] = 1
//                                                   g[...] = f[...]
//
// The dimensions lie in memory in the order that the Context gives, the innermost one dense, or as
// the layout of the storage says, whose swizzle becomes a fact of the allocation. Inputs
// and outputs (here g) keep the min and stride of their buffers, as BufferProperty. A Func that an
// extern stage names by its handle gets a tessera_buffer_t on the stack. The elements of scatter
// and gather become stores of their own.
ir::Stmt flatten_storage(const ir::LoweredFunction &pipeline, const Context &context);

}  // namespace tessera::lower
