#pragma once
#include "ir/nodes.h"
#include <optional>

namespace tessera::ir {

// Bytes that an allocation may take on the stack: any, and one which is to be there.
constexpr int64_t most_on_stack_by_default = 16 << 10;
constexpr int64_t most_on_stack = 256 << 10;

// The size in bytes with its padding, if all extents are constants.
std::optional<int64_t> constant_bytes(const Allocate &node);

// Says where code for a CPU allocates a buffer.
enum class Place : uint8_t {
    Stack,  // costs nothing
    // It is to be on the stack, but of a size that the stack has no room for, or that is not known:
    // a place on the heap which grows as needed, is kept as long as the function (or task) runs,
    // and serves other buffers when the scope of this one, or free(), has ended it.
    Growing,
    Heap
};
// Throws InternalError for memory that a CPU does not have.
Place place_of(const Allocate &node);

}  // namespace tessera::ir
