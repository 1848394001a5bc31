#pragma once
#include "ir/expr.h"
#include <string>

namespace tessera::ir {

// A hash that is the same in every process for expressions that are equal but for what their
// symbols are called and which they are: a symbol counts by the order in which it is met. For keys
// of what is kept in files.
uint64_t stable_hash(const Expr &e);

// Bytes that are equal, in every process, for such expressions and for no others.
std::string stable_key(const Expr &e);

}  // namespace tessera::ir
