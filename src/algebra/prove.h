#pragma once
#include "algebra/facts.h"
#include <optional>

namespace tessera::algebra {

// Returns true if the condition certainly holds, for all values of its variables that the facts
// allow. False says nothing. Tries harder than simplify: case distinctions over min, max and
// select, division and modulus bounded by their operands, known inequalities added up.
bool can_prove(const Expr &condition, const Facts &facts = {});

// A constant that an integer scalar never exceeds (goes below); none if none is known.
std::optional<int64_t> constant_upper_bound(const Expr &e, const Facts &facts = {});
std::optional<int64_t> constant_lower_bound(const Expr &e, const Facts &facts = {});

// The value of an integer that simplifies to a constant.
std::optional<int64_t> constant_value(const Expr &e, const Facts &facts = {});

}  // namespace tessera::algebra
