#pragma once
#include "ir/nodes.h"
#include "ir/tensor_operation.h"
#include "lower/gpu/staged_copy.h"
#include "lower/gpu/tile_nest.h"

namespace tessera::lower {

// An update D += A * B of a Tile, whose loops instructions do.
struct TensorizedStage {
    const TileNest &nest;
    ir::Expr lane;                // the number of the thread among those that run an instruction
    const Realizations &storage;  // around it
    const LetScope &lets;         // likewise
    const Target &target;
    bool is_in_registers = false;  // threads fill operands, which are not loaded by rows
};

// A tensor operation, and what its operands in registers are: of one without an expression the
// instructions find it in memory.
struct TensorProduct {
    ir::TensorOperation operation;
    ir::Expr a, b;  // in terms of the loops over rows, columns and the sum
};

// Finds what computes the stage, of the instructions that are asked for: by unification of their
// meaning with the update. CompileError, which names the loop, operand or type that does not fit
// and what would, if none does.
TensorProduct tensor_product(const TensorizedStage &stage);

}  // namespace tessera::lower
