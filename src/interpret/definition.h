#pragma once
#include "interpret/foreign_call.h"
#include "program/program.h"
#include "runtime/tessera_runtime.h"

namespace tessera::interpret {

struct DefinitionOptions {
    ExternMap externs;
    void *user_context = nullptr;
};

// Fills the buffers, one per value of each output of the program in their order, with what the
// definitions say: no schedule, no bounds inference, no lowering.
//
// A value is computed when it is needed, and remembered. If update definitions mix points of a
// dimension (they write or read its points other than by its pure variable), they are run over all
// of the dimension that anybody was seen to ask for; whenever somebody asks for more, all is
// computed anew. So calls with effects (print) may be made more often than by compiled code.
//
// Reading an image outside of its bounds, or what was never defined, is no error as long as no
// output depends on the value. Elements of an output that are `undef` are left as they are.
// Throws RuntimeError where a requirement fails, an input is missing, or an output depends on
// a value that is not there.
void evaluate_definition(const program::Program &program,
                         std::span<tessera_buffer_t *const> outputs,
                         const DefinitionOptions &options = {});

}  // namespace tessera::interpret
