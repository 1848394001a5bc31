#pragma once
#include "program/function.h"

namespace tessera::lower {

// A split whose tail blends writes back what other iterations may have written. Throws CompileError
// where these may be at work at the same time: in parallel tiles that overlap, as they are shifted
// inwards, or as a tail runs beyond the end of an earlier split's tile into the next.
void validate_tails(const program::FunctionContents &f);

}  // namespace tessera::lower
