#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Gathers from places next to each other become one load of two or four elements for each lane,
// which the machine has a plain load for:
//
//     f[i] + f[i + x16(1)]     ->     slice(g, 0, 1, 16) + slice(g, 16, 1, 16)
//                                     where g is f[ramp(i, x16(1), 2)]
//
// Merges loads of elements of 32 bits, for machines that find a lane's address by itself.
ir::Stmt merge_adjacent_gathers(const ir::Stmt &s, const Context &context);

}  // namespace tessera::lower
