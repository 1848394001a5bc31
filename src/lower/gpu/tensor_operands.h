#pragma once
#include "ir/nodes.h"
#include "ir/tensor_operation.h"
#include "lower/gpu/staged_copy.h"
#include "lower/gpu/tile_nest.h"
#include <functional>

namespace tessera::lower {

// Returns true if this element is zero wherever the condition does not hold.
using IsZeroUnless = std::function<bool(const ir::Expr &condition, const ir::Call &element)>;

// An update D += A * B of a Tile, whose loops instructions do.
struct TensorizedStage {
    const TileNest &nest;
    ir::Expr lane;                // the number of the thread among those that run an instruction
    const Realizations &storage;  // around it
    const LetScope &lets;         // likewise
    const Target &target;
    const IsZeroUnless &is_zero_unless;
    bool is_in_registers = false;  // threads fill operands, which are not loaded by rows
};

// An operand in registers: zero where one of the conditions does not hold, each of which is asked
// only if those before it hold. All are in terms of the loops over rows, or columns, and the sum.
// Without a value the instructions find the operand in memory.
struct FilledOperand {
    ir::Expr value;
    std::vector<ir::Expr> conditions;
};

// A tensor operation, and what its operands in registers are. Beyond the loops over the sum, up to
// the multiple of what an instruction sums, both are zeros.
struct TensorProduct {
    ir::TensorOperation operation;
    FilledOperand a, b;
    // Those of the nest; none if all that is added is zero without them.
    std::vector<ir::Expr> conditions;
};

// Finds what computes the stage, of the instructions that are asked for: by unification of their
// meaning with the update. What the stage has a condition for is zero elsewhere, in operands that
// are so already or are filled in registers. CompileError, which names the loop, operand or type
// that does not fit and what would, if none does.
TensorProduct tensor_product(const TensorizedStage &stage);

}  // namespace tessera::lower
