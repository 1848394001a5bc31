#pragma once
#include "ir/nodes.h"
#include <optional>

namespace tessera::ir {

// Bytes that an allocation may take on the stack: any, and one which is to be there.
constexpr int64_t most_on_stack_by_default = 16 << 10;
constexpr int64_t most_on_stack = 256 << 10;

// The size in bytes with its padding, if all extents are constants.
std::optional<int64_t> constant_bytes(const Allocate &node);

// Whether the buffer is on the stack, which costs nothing; else it comes from the heap.
bool is_on_stack(const Allocate &node);

}  // namespace tessera::ir
