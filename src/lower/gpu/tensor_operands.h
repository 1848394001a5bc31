#pragma once
#include "ir/nodes.h"
#include "ir/tensor_operation.h"
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

// Returns the operands of the MachineOp. `body`: the statement within the loops over warps.
// CompileError if the update is no such product, or of other types, or its operands do not lie as
// the instruction reads them.
ir::TensorOperation tensor_operands(const TensorizedStage &stage, const ir::Stmt &body);

}  // namespace tessera::lower
