#pragma once
#include "interpret/tape.h"

namespace tessera::interpret {

// The value of a node that is a function of its operands' values, written to `result`, which has
// the node's type. False if the node's meaning depends on more than that.
bool evaluate_lanes(const ir::ExprNode &node, Operands operands, Value &result);

}  // namespace tessera::interpret
