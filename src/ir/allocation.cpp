#include "ir/allocation.h"

namespace tessera::ir {

std::optional<int64_t> constant_bytes(const Allocate &node) {
    int64_t elements = 1, bytes = 0;
    for (const Expr &e : node.extents) {
        const auto *extent = e.as<IntImm>();
        if (!extent || extent->value < 0) return {};
        if (__builtin_mul_overflow(elements, extent->value, &elements)) return {};
    }
    if (__builtin_add_overflow(elements, int64_t(node.padding), &elements)) return {};
    if (__builtin_mul_overflow(elements, int64_t(node.type.bytes()), &bytes)) return {};
    return bytes;
}

bool is_on_stack(const Allocate &node) {
    std::optional<int64_t> bytes = constant_bytes(node);
    if (!bytes) return false;
    switch (node.memory) {
    case MemoryType::Stack:
    case MemoryType::Register: return *bytes <= most_on_stack;
    case MemoryType::Auto: return *bytes <= most_on_stack_by_default;
    default: return false;
    }
}

bool has_growing_place(const Allocate &node) {
    return node.memory == MemoryType::Stack && !is_on_stack(node);
}

}  // namespace tessera::ir
