#pragma once
#include "ir/nodes.h"
#include <optional>
#include <utility>

// Vectors as the vectorizer makes them: `groups` groups of neighbouring lanes, one per iteration of
// the loop. These functions keep ramps and broadcasts in sight, so that dense accesses are still
// seen to be dense.
namespace tessera::lower::lanes {

using ir::Expr;

// Base and stride such that e is Ramp(base, stride, groups); none if e has no such form.
struct Affine {
    Expr base, stride;
};
std::optional<Affine> as_affine(const Expr &e, int groups);

// a + b, a - b and a * b of equally many lanes: a Ramp or Broadcast where they are such.
Expr add(const Expr &a, const Expr &b);
Expr sub(const Expr &a, const Expr &b);
Expr mul(const Expr &a, const Expr &b);
// The cast of a Broadcast is one. The cast of a Ramp is one if it is a coordinate in more bits:
// these are small, while the first lane of a ramp of data may overflow where a later one does not.
Expr cast_lanes(Type element, const Expr &e);
Expr cast_coordinate(Type element, const Expr &e);

// Each group as often as said, one after the other: (a b)(c d) -> a b a b c d c d.
Expr repeat_each(const Expr &e, int groups, int times);

// Lane r * columns + c becomes lane c * rows + r.
Expr transpose(const Expr &e, int rows, int columns);

// The lanes of one group.
Expr group_of(const Expr &e, int groups, int which);

// The least or greatest lane, a scalar.
Expr least(const Expr &e);
Expr greatest(const Expr &e);

// Returns true if all lanes certainly differ.
bool all_different(const Expr &e);

}  // namespace tessera::lower::lanes
