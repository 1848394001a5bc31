#pragma once
#include "ir/nodes.h"

namespace tessera::lower {

// A part of a larger buffer that stands for a buffer: element i of one is element i * scale +
// offset of the other.
struct Slice {
    ir::Expr scale = 1, offset = 0;  // Int(32)
    Symbol of = {};                  // the larger one, if it has another name
};

// The statement with all accesses of the buffer in a slice of it.
//
//     f[x] = g[y]      ->      f[x*32 + thread_x] = g[y]
ir::Stmt move_into_slice(const ir::Stmt &s, Symbol buffer, const Slice &slice);

}  // namespace tessera::lower
