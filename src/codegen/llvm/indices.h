#pragma once
#include "ir/nodes.h"
#include <cstdint>

// What loads and stores ask of the indices of vectors, and of what is known of them.
namespace tessera::codegen {

// The number, if the expression is one; else null.
const int64_t *constant_of(const ir::Expr &e);
// Sums and products that fold constants.
ir::Expr plus(const ir::Expr &a, const ir::Expr &b);
ir::Expr times(const ir::Expr &a, int64_t factor);

// The group `i` of a ramp of vectors: base + step * i, its alignment, and its part of a predicate.
ir::Expr advance(const ir::Expr &base, const ir::Expr &step, int i);
ir::Alignment group_alignment(const ir::Alignment &a, const ir::Expr &step, int i);
ir::Expr part_of(const ir::Expr &predicate, int begin, int lanes);

// One element after the other.
bool is_dense(const ir::Expr &index);
// The group of a ramp of vectors whose lanes are far apart, while those of different groups are
// next to one another: what it names is the transpose of a few dense rows. Else null.
const ir::Ramp *transposed_group(const ir::Ramp &index);
// Two or four elements for each of many lanes that lie anywhere.
bool is_gather_of_rows(const ir::Load &load, const ir::Ramp &index);

}  // namespace tessera::codegen
