#pragma once
#include "ir/nodes.h"
#include <cstdint>

// Queries on the indices of vectors for loads and stores.
namespace tessera::codegen {

// The number, if the expression is one; else null.
const int64_t *constant_of(const ir::Expr &e);
// One element after the other.
bool is_dense(const ir::Expr &index);

}  // namespace tessera::codegen
