#pragma once
#include "codegen/compile.h"
#include <optional>

// What the callers of compiled functions see, whatever the functions are compiled to.
namespace tessera::codegen {

bool is_user_context(const ir::Argument &a);

// The bits of a limit or estimate of a number of this type, as a tessera_scalar_value_t has them;
// none if it is not known now.
std::optional<uint64_t> known_bits(const ir::Expr &e, Type type);

}  // namespace tessera::codegen
