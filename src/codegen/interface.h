#pragma once
#include "codegen/compile.h"
#include <optional>

// The interface of compiled functions to their callers, for all back ends.
namespace tessera::codegen {

bool is_user_context(const ir::Argument &a);

// The bits of a limit or estimate of a number of this type, as a tessera_scalar_value_t has them;
// none if it is not known now.
std::optional<uint64_t> known_bits(const ir::Expr &e, Type type);

}  // namespace tessera::codegen
