#pragma once
#include "runtime/tessera_runtime.h"
#include <vector>

namespace tessera {

int64_t element_bytes(const tessera_type_t &type);
bool is_empty(const tessera_buffer_t &buffer);
// Returns the offset of the lowest element, in bytes from the one at the minimum of every
// dimension: <= 0.
int64_t lowest_byte(const tessera_buffer_t &buffer);

// One dimension of a copy; the strides count bytes.
struct CopyLoop {
    int64_t extent, src_stride, dst_stride;
};

// Copies `chunk` bytes, which are dense on both sides, in each iteration of `loops` (the innermost,
// with the smallest steps in dst, first; no two that could be one). No strides are negative on both
// sides.
struct CopyPlan {
    int64_t chunk = 0;
    std::vector<CopyLoop> loops;
    // The offsets of the first chunk, in bytes from the element at the minimum of every dimension.
    int64_t src_offset = 0, dst_offset = 0;
    bool fills_dst = false;  // no element of dst is left out

    int64_t bytes() const;  // that are copied; 0: nothing
};

// Copies what the boxes of both have in common; they have the same type and number of dimensions.
CopyPlan plan_copy(const tessera_buffer_t &src, const tessera_buffer_t &dst);

// The same copy in two, by way of dense memory of bytes(), in which elements have the order that
// they have in dst, or else in src.
struct CopyInTwo {
    CopyPlan first, second;
};
CopyInTwo copy_in_two(const CopyPlan &plan, bool in_order_of_dst);

// `src` and `dst`: the elements at the minimum of every dimension, on the host.
void copy_on_host(const CopyPlan &plan, const uint8_t *src, uint8_t *dst);

// 0 if src and dst have the same dimensions and type; says so if they have not.
int check_copied_types(void *user_context, const tessera_buffer_t &src,
                       const tessera_buffer_t &dst);

}  // namespace tessera
