#pragma once
#include "base/target.h"
#include "ir/module.h"
#include "runtime/tessera_runtime.h"
#include <vector>

namespace tessera::codegen {

// A Buffer of the program itself, as it is written into a file.
struct EmbeddedBuffer {
    const tessera_buffer_t *buffer = nullptr;
    int64_t first = 0;              // the lowest element, counted from the host pointer; 0 or less
    std::vector<uint8_t> contents;  // from there on, with zeros between elements
};
// CompileError if it has no values in memory, or too many.
EmbeddedBuffer embedded_buffer(const ir::Argument &a, const Target &target);

}  // namespace tessera::codegen
