#pragma once
#include "codegen/llvm/architecture.h"
#include <compare>

namespace tessera::codegen {

// Says which GPUs code is for: those of a compute capability, as in 90 for 9.0, or exactly those,
// with instructions that no later ones have, as in 9.0a. Code with floats of 8 bits is of a version
// of PTX that has them, which older drivers do not know.
struct NvptxKind {
    int capability = 0;
    bool is_exact = false, has_float8 = false;
    friend auto operator<=>(const NvptxKind &, const NvptxKind &) = default;
};
const Architecture &nvptx_architecture(const NvptxKind &kind);

}  // namespace tessera::codegen
