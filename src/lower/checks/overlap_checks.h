#pragma once
#include "lower/nest/build.h"

namespace tessera::lower {

// Checks that no output lies in memory from which an input is read after the output has been
// written there. An input may share memory with an output if all of it is read before that is
// written. It may be the output itself if each of its elements is only read where the element of
// the same coordinates is written, unless the tail of a split computes elements again.
//
//     f(x) = g(x), g(x) = in(x) + in(x + 1)      g at root: no check; else: no overlap
//     f(x) = in(x) * 2                           no overlap, or the same place for each x
std::vector<ir::Stmt> overlap_checks(const LoopNests &nests, const ProgramContext &context);

}  // namespace tessera::lower
