#pragma once
#include "ir/enums.h"
#include "ir/expr.h"

// How the accumulators of tensor instructions lie in the registers of the threads that run them.
namespace tessera::lower {

// A family of instructions D += A * B of matrices, D of float32, A and B of 16 bits. What one does
// is a loop nest over rows, columns and k. Of its D the thread with the number `lane` has the
// elements in row rows_of(lane) + 8 * h and column 8 * j + columns_of(lane) + i, as its accumulator
// 4 * j + 2 * h + i, for all j, h < 2 and i < 2 (PTX ISA, fragments of m16n8k16 and of wgmma).
struct TensorInstructionInfo {
    LoopKind loops;    // that it stands for
    LoopKind threads;  // loops whose iterations run it
    int lanes;         // threads of one such iteration
    int rows;          // of D
    int columns_step;  // columns are a multiple of it
    int most_columns;  // of one instruction
    int k;             // of one instruction
    const char *name;
};
const TensorInstructionInfo *tensor_instruction(LoopKind loops);
// By the loops that run it.
const TensorInstructionInfo *tensor_instruction_of_threads(LoopKind threads);

ir::Expr first_row(const ir::Expr &lane);     // within the rows of one instruction
ir::Expr first_column(const ir::Expr &lane);  // within 8 columns

}  // namespace tessera::lower
