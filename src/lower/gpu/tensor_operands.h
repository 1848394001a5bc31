#pragma once
#include "ir/nodes.h"
#include "lower/gpu/staged_copy.h"
#include "lower/gpu/tile_layout.h"
#include "lower/loops/let_scope.h"

namespace tessera::lower {

// An update f(x, y) += a(k, y) * b(x, k) whose loops one kind of instruction does.
struct TensorizedStage {
    const TensorInstructionInfo &instruction;
    const ir::Provide &update;
    const ir::For &rows, &columns, &sum;
    int32_t row_count, column_count, sum_count;  // iterations of these loops
    ir::Expr lane;                               // the number of the thread among those that run it
    const Realizations &storage;                 // around it
    const LetScope &lets;                        // likewise
};

// The operands of the MachineOp: rows, columns, k, whether A and B lie along k, whether they are of
// bfloat16, the distances in elements from one panel of A and of B to the next (of wgmma, else 0),
// the place of the first accumulator, then the places of A and of B: for mma those of fragments,
// for wgmma those of each instruction. `body`: the statement within the loops over warps.
// CompileError if the update is no such product, or of other types, or its operands do not lie as
// the instruction reads them.
std::vector<ir::Expr> tensor_operands(const TensorizedStage &stage, const ir::Stmt &body);

}  // namespace tessera::lower
