#pragma once
#include "ir/cpu_instructions.h"
#include "ir/nodes.h"

namespace tessera::ir {

// Says what a MachineOp tensor of a CPU does: it adds a product to the sums of a Tile; it is around
// all that works on a Tile while its sums are in registers; it sets them to zero; or it is around
// all that uses tile registers, which a program has to configure.
enum class CpuTensorStep : uint8_t { Multiply, Hold, Zero, Configure };

// The operands of a MachineOp tensor of a CPU by their names. The first operand is the name of the
// step, and the second that of the instruction, both texts.
struct CpuTensorOperation {
    CpuTensorStep step = CpuTensorStep::Multiply;
    std::string instruction;               // of cpu_instructions()
    int64_t rows = 0, columns = 0, k = 0;  // of the Tile, and of the product
    bool starts_at_zero = false;           // of Hold: the sums are set to zero within
    Expr sums;                             // the place of the first one
    // Places from which the next row of A, or B, is found: that of a first row, and that of the
    // next one. Both are the same if there is one row.
    Expr a_row, a_next, b_row, b_next;
    // The places of A, for each step of k and, within, for each step of rows; and those of B, for
    // each step of k and, within, for each step of columns.
    std::vector<Expr> a, b;

    // Throws InternalError if the operands are not those of such an operation.
    static CpuTensorOperation of(const MachineOp &op);
    std::vector<Expr> operands() const;

    const CpuInstruction &row() const;
    // Steps of the instruction along the coordinates.
    int64_t row_steps() const { return rows / row().rows; }
    int64_t column_steps() const { return columns / row().columns; }
    int64_t k_steps() const { return k / row().k; }
    // Returns the layout of the Tile: from i and j to (thread, register).
    Layout layout() const;
    // Returns where the sums of one instruction begin in the Tile, in elements.
    int64_t first_sum(int64_t row_step, int64_t column_step) const;
};

// Returns true if the operation is one of a CPU.
bool is_cpu_tensor(const MachineOp &op);
// Says what is wrong with the operands of such an operation; empty if they are right.
std::string fault_of_cpu_tensor(const MachineOp &op);

}  // namespace tessera::ir
