#pragma once
#include "ir/nodes.h"
#include "lower/gpu/staged_copy.h"
#include <optional>
#include <vector>

// Arrays in the memory of the device, as the machine sees them that copies boxes of them.
namespace tessera::lower {

// A dimension of a buffer, or of a Func that is computed outside of the kernel.
struct MappedDimension {
    size_t of_array = 0;  // its number there
    ir::Expr min, extent, stride;
    // A dimension of places: how far one is from the next, the first one, and the last one, from
    // the last element on.
    int64_t step = 1;
    ir::Expr first = {}, last = {};
};

// The dimensions of what this element is one of, in their order.
std::vector<MappedDimension> dimensions_of(const ir::Call &element, const Realizations &storage);
// Returns true if rows of what this element is one of are known not to begin at multiples of 16
// bytes.
bool has_misaligned_rows(const ir::Call &element, const Realizations &storage);

// Lists the parts of a condition, all of which hold where it does, as what is not negative then.
// Nothing if one is no comparison of integers.
std::optional<std::vector<ir::Expr>> parts_of_condition(const ir::Expr &condition);

// Returns what a value may be, as far as minima and maxima, and what is added to them, say.
std::vector<ir::Expr> possible_values(const ir::Expr &e);

// Returns the map of the array that this element is of, with these of its dimensions in this order,
// which may begin elsewhere and be shorter, for copies of this kind. `shift`: coordinates along a
// row count from so many elements before it.
ir::Expr tensor_map_of(const ir::Call &element, const std::vector<MappedDimension> &dimensions,
                       const ir::BoxCopy &copy, int64_t swizzle, const ir::Expr &shift = 0);

}  // namespace tessera::lower
