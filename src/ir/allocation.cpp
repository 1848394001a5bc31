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

static Place place_of_stack(const Allocate &node) {
    const std::optional<int64_t> bytes = constant_bytes(node);
    return bytes && *bytes <= most_on_stack ? Place::Stack : Place::Growing;
}

Place place_of(const Allocate &node) {
    switch (node.memory) {
    case MemoryType::Auto: {
        const std::optional<int64_t> bytes = constant_bytes(node);
        return bytes && *bytes <= most_on_stack_by_default ? Place::Stack : Place::Heap;
    }
    case MemoryType::Heap: return Place::Heap;
    case MemoryType::Stack: return place_of_stack(node);
    case MemoryType::Register: {  // so many are in memory anyway
        const Place place = place_of_stack(node);
        return place == Place::Stack ? place : Place::Heap;
    }
    case MemoryType::GPUShared:
    case MemoryType::GPUTexture:
    case MemoryType::LockedCache:
    case MemoryType::VTCM:
    case MemoryType::AMXTile:
    case MemoryType::Tile:
    case MemoryType::GPUSharedAsync: break;
    }
    throw InternalError(str(node.buffer, " is in ", name_of(node.memory), ", which no CPU has"));
}

}  // namespace tessera::ir
