#pragma once
#include "ir/nodes.h"
#include "lower/gpu/tile_layout.h"

namespace tessera::lower {

// An update f(x, y) += a(k, y) * b(x, k) whose loops one kind of instruction does.
struct TensorizedStage {
    const TensorInstructionInfo &instruction;
    const ir::Provide &update;
    const ir::For &rows, &columns, &sum;
    ir::Expr lane;  // the number of the thread among those that run it
};

// The operands of the MachineOp (ir/enums.h): sizes, and where its parts are. `body`: the statement
// within the loops over warps. CompileError if the update is no such product, or of other types.
std::vector<ir::Expr> tensor_operands(const TensorizedStage &stage, const ir::Stmt &body);

}  // namespace tessera::lower
