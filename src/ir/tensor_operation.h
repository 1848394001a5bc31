#pragma once
#include "ir/instruction.h"
#include "ir/nodes.h"

namespace tessera::ir {

constexpr bool is_tensor_operation(MachineOpKind op) { return op == MachineOpKind::tensor; }

// The operands of a MachineOp tensor by their names: a product D += A * B of a tile of D, by
// as many instructions as it takes.
struct TensorOperation {
    bool is_wgmma = false;                 // else mma
    int64_t rows = 0, columns = 0, k = 0;  // extents of the tile; multiples of an instruction's
    Type element = Float(16);              // of A and B: float16 or bfloat16
    bool a_is_along_k = true, b_is_along_k = true;
    int64_t a_panel = 0, b_panel = 0;  // elements from one panel to the next; of wgmma
    Expr accumulators;                 // the place of the thread's first one
    // The places of A and B. Of mma: those of the rows that a thread gives to ldmatrix.x4, for each
    // 16 of k and, within, for each 16 rows of A, or columns of B. Of wgmma: where the matrix of
    // one instruction begins, for each 16 of k and, within, for each 64 rows of A.
    std::vector<Expr> a = {}, b = {};

    // Throws InternalError if the operands are not those of such an operation (fault_of()).
    static TensorOperation of(const MachineOp &op);
    std::vector<Expr> operands() const;
    // The number of the first operand that is a place of A; those of B follow.
    static constexpr size_t first_place = 10;

    // Returns the instruction of which the operation consists.
    Instruction instruction() const;
    // Returns where the elements of D lie: from i and j to (thread, register).
    Layout accumulator_layout() const;
};

// Says what is wrong with the operands of a MachineOp tensor: their number, sizes that its
// instructions do not divide, or places of other types. Empty if they are right.
std::string fault_of(const MachineOp &op);

}  // namespace tessera::ir
