#pragma once
#include "lower/gpu/kernel_shape.h"
#include <optional>

namespace tessera::lower {

// The threads of a kernel, as its canonical form has them: x, y, z, those that there are.
struct ThreadsOfBlock {
    std::array<Symbol, thread_dimensions> names;  // of their indices; undefined: there is no such
    std::array<ir::Expr, thread_dimensions> shape;
};

// Storage at the level of a block that is private to each thread (MemoryType::Register or Stack):
// every thread gets the elements that it accesses. An index has to be a sum of what depends on the
// thread alone, the same for all accesses, and of what does not depend on it:
//
//     f: float32[64]                                       f: float32[8]
//     gpu_thread t: f[t*8] = 0; ...; f[t*8 + 7] = 0   ->   gpu_thread t: f[0] = 0; ...; f[7] = 0
//     gpu_thread t: out[t] = f[t*8 + 3]                    gpu_thread t: out[t] = f[3]
//
// All threads of a block are tried out, to see that no element belongs to two of them. Throws
// CompileError, at the directive, if it is not so or cannot be seen. `lets`: those around the
// allocation.
ir::Stmt private_to_threads(const ir::Allocate &a, const ThreadsOfBlock &threads,
                            const LetScope &lets);
// The same, but nothing where that throws.
std::optional<ir::Stmt> private_to_threads_if_possible(const ir::Allocate &a,
                                                       const ThreadsOfBlock &threads,
                                                       const LetScope &lets);

}  // namespace tessera::lower
