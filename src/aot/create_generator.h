#pragma once
#include "aot/write_outputs.h"

namespace tessera {

// The job's generator with its parameters, for this target and autoscheduler; those of its
// parameters that name another autoscheduler, or its options, count first: they are in the context
// that the generator is made with. CompileError if there is none of its name.
std::unique_ptr<GeneratorBase> create_generator(const GeneratorJob &job,
                                                const GeneratorContext &context);

}  // namespace tessera
