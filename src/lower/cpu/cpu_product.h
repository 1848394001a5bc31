#pragma once
#include "ir/tensor_operation.h"
#include "lower/cpu/operand_rows.h"
#include <vector>

namespace tessera::lower {

// Returns true if the user asks for an instruction of a CPU in place of the loop.
bool is_for_cpu_instruction(const ir::For &loop, const Target &target);

// A nest of tensorized loops as an instruction of a CPU runs it.
struct CpuProduct {
    ir::TensorOperation operation;  // its place of sums is not known yet
    // The dimensions of the Tile along rows and columns; none if there is one row or column.
    std::optional<size_t> row_dimension, column_dimension;
    // Storage that has to be in another order.
    std::unordered_map<Symbol, Packing> packings;
};

// Finds out how an instruction that the user asks for does what the nest does, whose outermost
// tensorized loop is `outermost`, and which updates what is stored in `tile`. Throws CompileError,
// at the directive of that loop, if none does, and says what does not fit.
CpuProduct read_cpu_product(const ir::For &outermost, const ir::Realize &tile,
                            const Storages &storage, const LetScope &around, const Target &target);

}  // namespace tessera::lower
