#pragma once
#include "lower/nest/build.h"

namespace tessera::lower {

// Wraps the loop nests into what a pipeline does first: refuse null buffers; bind the regions that
// are computed at the root; if a buffer has no host memory, answer the bounds query by setting the
// fields of all such buffers to what the pipeline needs of them, and be done; else check that every
// buffer has the right type and dimensions, holds the region that is accessed, has its newest
// contents in host memory, and meets the user's constraints, that parameters are in their ranges,
// and that requirements hold. Constraints of buffers are used in place of the fields they fix.
ir::Stmt add_entry_checks(const LoopNests &nests, const program::Program &program,
                          const ProgramContext &context);

}  // namespace tessera::lower
