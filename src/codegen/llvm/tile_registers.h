#pragma once
#include "codegen/llvm/values.h"
#include "ir/instruction.h"

namespace tessera::codegen {

// The tile registers of a machine, by their numbers. All of them have the same rows and columns
// while they are configured.
class TileRegisters {
public:
    static constexpr int count = 8;

    virtual ~TileRegisters() = default;
    virtual void configure() = 0;
    virtual void release() = 0;
    virtual void zero(int tile) = 0;
    // The stride is in bytes.
    virtual void load(int tile, Value *place, Value *stride) = 0;
    virtual void store(int tile, Value *place, Value *stride) = 0;
    virtual void multiply(const ir::Instruction &row, int sums, int a, int b) = 0;
};

}  // namespace tessera::codegen
