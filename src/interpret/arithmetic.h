#pragma once
#include "interpret/value.h"
#include "ir/nodes.h"
#include <span>

// The meaning of the operations of the IR, for one lane. Types are those of elements.
namespace tessera::interpret {

Word cast_word(Type to, Type from, Word word);

// Add to Or; `type` is that of the operands. Comparisons give 0 or 1.
Word binary_word(ir::NodeKind op, Type type, Word a, Word b);

struct Operand {
    Type type;
    Word word = 0;
};

// Returns true if intrinsic_word knows the intrinsic: a function of its operands, lane by lane.
bool is_lanewise(ir::Intrinsic op);
Word intrinsic_word(ir::Intrinsic op, Type result, std::span<const Operand> operands);

// One step of a VectorReduce.
Word reduce_word(ReduceOp op, Type type, Word a, Word b);

}  // namespace tessera::interpret
