#pragma once
#include "ir/enums.h"
#include "ir/nodes.h"
#include <optional>

// Describes how the accumulators of tensor instructions lie in the registers of the threads that
// run them.
namespace tessera::lower {

// A family of instructions D += A * B of matrices, D of float32, A and B of 16 bits. Each
// instruction does a loop nest over rows, columns and k. The thread with the number `lane` has the
// elements of D in row first_row(lane) + 8 * h and column 8 * j + first_column(lane) + i, as
// accumulator 4 * j + 2 * h + i, for all j, h < 2 and i < 2 (PTX ISA, fragments of m16n8k16 and of
// wgmma).
struct TensorInstructionInfo {
    LoopKind loops;    // that it stands for
    LoopKind threads;  // loops whose iterations run it
    int lanes;         // threads of one such iteration
    int rows;          // of D
    int columns_step;  // columns are a multiple of it
    int most_columns;  // of all that such an iteration computes
    int k;             // of one instruction
    const char *name;
};
const TensorInstructionInfo *tensor_instruction(LoopKind loops);
// Returns the instruction that these loops run.
const TensorInstructionInfo *tensor_instruction_of_threads(LoopKind threads);

// Returns by how much a coordinate grows from one iteration of a loop to the next; none if that
// depends on the iteration.
std::optional<int64_t> step_of(const ir::Expr &coordinate, const ir::For &loop);

ir::Expr first_row(const ir::Expr &lane);     // within the rows of one instruction
ir::Expr first_column(const ir::Expr &lane);  // within 8 columns

}  // namespace tessera::lower
