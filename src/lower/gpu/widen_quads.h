#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Gives each operation that stores accumulators its operands (store_quads): what a thread has of
// blocks of 8 columns, two each, and where its 16 bytes go. Elements of 16 bits are those of four
// blocks, of which a thread stores the one of its number; of 8 bits those of eight blocks, of which
// it stores two; of 32 bits those of two blocks, of which it stores half of one.
//
//     machine_op store_quads(lane):
//         f[i] = a; f[i + 1] = b; f[i + 8] = c; ... f[i + 25] = h
// becomes
//     let at = address_of(f[ramp(i - lane % 4 * 2 + lane % 4 * 8, 1, 8)])
//     machine_op store_quads(lane, a, b, c, ..., h, at):
//         f[i] = a; f[i + 1] = b; f[i + 8] = c; ... f[i + 25] = h
ir::Stmt widen_quads(const ir::Stmt &s, const Context &context);

}  // namespace tessera::lower
