#pragma once
#include "algebra/rules/rules.h"

// The names that rules are written with: x, y, ... match anything, c0, c1, ... constants, q and r
// conditions.
namespace tessera::algebra::rules {
namespace {

[[maybe_unused]] const Pattern x = wild(0), y = wild(1), z = wild(2), w = wild(3), q = wild(4),
                               r = wild(5);
[[maybe_unused]] const Pattern c0 = constant(0), c1 = constant(1), c2 = constant(2),
                               c3 = constant(3);
[[maybe_unused]] constexpr Domain any = Domain::Any, integer = Domain::Integer, wide = Domain::Wide,
                                  exact = Domain::Exact, boolean = Domain::Boolean;

}  // namespace
}  // namespace tessera::algebra::rules
