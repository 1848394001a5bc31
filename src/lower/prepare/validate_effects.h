#pragma once
#include "lower/program_context.h"

// No directive is ignored: where one could have no effect, it is refused, with its line. All throw
// CompileError.
namespace tessera::lower {

// Checks a function that is computed inline, so that it has no storage and no loops: refuses
// directives about that storage and about its loops. (What traces it is taken: there is nothing to
// report.)
void validate_inline(const program::FunctionContents &f);

// Checks an output, which is computed at the root into the memory of the caller: refuses directives
// that say where it is computed or stored, or how it is laid out.
void validate_output(const program::FunctionContents &f);

// Refuses stream_loads of what no version of the stage reads, and no reduction that is computed
// inline in it.
void validate_streams(const program::FunctionContents &f, const ProgramContext &context);

}  // namespace tessera::lower
