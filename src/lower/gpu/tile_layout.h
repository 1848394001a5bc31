#pragma once
#include "ir/enums.h"
#include "ir/layout.h"
#include "ir/nodes.h"
#include <optional>

// Describes how the accumulators of tensor instructions lie in the registers of the threads that
// run them.
namespace tessera::lower {

// A family of instructions D += A * B of matrices, D of float32, A and B of 16 bits. Each
// instruction does a loop nest over rows, columns and k.
struct TensorInstructionInfo {
    LoopKind threads;  // loops whose iterations run it
    int lanes;         // threads of one such iteration
    int rows;          // of D
    int columns_step;  // columns are a multiple of it
    int most_columns;  // of all that such an iteration computes
    int k;             // of one instruction
    const char *family, *name;
};
// Returns the one that runs the iterations of a tensorized loop; null if it is none.
const TensorInstructionInfo *tensor_instruction(const ir::For &loop);
// Returns the instruction that these loops run.
const TensorInstructionInfo *tensor_instruction_of_threads(LoopKind threads);

// Returns by how much a coordinate grows from one iteration of a loop to the next; none if that
// depends on the iteration.
std::optional<int64_t> step_of(const ir::Expr &coordinate, const ir::For &loop);

// Returns where a tile of so many rows and columns lies: from i and j to (thread, register).
ir::Layout accumulators(const TensorInstructionInfo &instruction, int64_t rows, int64_t columns);

}  // namespace tessera::lower
