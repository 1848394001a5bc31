#pragma once
#include "lower/nest/build.h"

namespace tessera::lower {

// The region of an argument that the pipeline touches, in terms of the nests' lets; null: none.
const Box *box_of(const ir::Argument &b, const LoopNests &nests);

// The same of all arguments, for people: in terms of what the caller passes, without the lets, and
// with what the user fixed of buffers in place of their fields. A range is unknown if it depends on
// what a C function says, or if it is too long to be read.
std::unordered_map<Symbol, std::vector<ir::TouchedRange>>
find_touched_ranges(const LoopNests &nests, const ProgramContext &context);

}  // namespace tessera::lower
