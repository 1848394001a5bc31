#pragma once
#include "codegen/llvm/architecture.h"
#include <compare>

namespace tessera::codegen {

// Says which GPUs code is for: those of a compute capability, as in 90 for 9.0, or exactly those,
// with instructions that no later ones have, as in 9.0a. What copies boxes is PTX 8.0; code with
// floats of 8 bits, or with wgmma of signed and unsigned bytes, is 8.4, which drivers before 550 do
// not know.
struct NvptxKind {
    int capability = 0;
    bool is_exact = false;
    int least_ptx = 0;  // as in 84, on GPUs from 8.9 on
    friend auto operator<=>(const NvptxKind &, const NvptxKind &) = default;
};
const Architecture &nvptx_architecture(const NvptxKind &kind);

}  // namespace tessera::codegen
