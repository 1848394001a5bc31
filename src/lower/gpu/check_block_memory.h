#pragma once
#include "lower/context.h"

namespace tessera::lower {

// Checks that what a block of a kernel shares is no more than the GPUs of the target have, as far
// as it is known now; the rest is checked at the launch. Returns the statement as it is. Throws
// CompileError, at the directive of the largest storage there, if it is more.
ir::Stmt check_block_memory(const ir::Stmt &s, const Context &context);

}  // namespace tessera::lower
