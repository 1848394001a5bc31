#pragma once
#include "ir/nodes.h"
#include <span>

namespace tessera::ir {

// The value of the intrinsic `random`: the hash of its operands, each as 32 bits. Once as a number
// and once as an expression, so that the interpreters and compiled code draw the same numbers.
uint32_t random_bits(std::span<const uint32_t> seeds);
Expr random_bits(const std::vector<Expr> &seeds);

// The value of that call for the bits: float32 in [0, 1), or an int32 or uint32 of any value.
uint32_t random_value_bits(Type type, uint32_t bits);
// The expression that a call of `random` stands for; of the same type.
Expr expand_random(const IntrinsicCall &call);

}  // namespace tessera::ir
