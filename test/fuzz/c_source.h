#pragma once
#include <lang/pipeline.h>

namespace tessera::fuzz {

// Compiles the pipeline as C source by the C compiler, and runs it in this process, with its
// parameters as they are set and its trace events told to `trace`. RuntimeError where the C does
// not compile, or returns an error.
void run_c_source(Pipeline pipeline, const std::vector<tessera_buffer_t *> &outputs,
                  tessera_trace_t trace);

}  // namespace tessera::fuzz
