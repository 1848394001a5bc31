#pragma once
#include "runtime/tessera_runtime.h"
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

// The memory of buffers to measure with: no part of the compiler.
namespace tessera::autoscheduler {

// Says how the values of a buffer lie in memory.
struct ArrayLayout {
    std::string name;  // for messages
    tessera_type_t type = {};
    std::vector<tessera_dimension_t> dims;
    size_t alignment = 1;  // of its first value, in bytes

    size_t element_bytes() const { return (type.bits + 7u) / 8; }
    // Returns how many bytes there are from the lowest element to the end of the highest one, and
    // how many of these are below the first value because strides are negative.
    size_t bytes() const;
    size_t bytes_before() const;
};

// The number of ways in which all arrays of a pipeline are laid into memory. The speed may depend
// on that: arrays that lie at the same place of a page push one another out of a cache, and vectors
// that lie across two of its lines take twice as long to load.
constexpr int placements = 3;

// A buffer with its memory, which is all zero at first. It cannot be copied since it points into
// itself.
class Array {
public:
    // `number` tells it from the other arrays of a pipeline. Throws RuntimeError if memory is
    // short.
    Array(const ArrayLayout &layout, size_t number);
    Array(const Array &) = delete;

    tessera_buffer_t buffer = {};
    uint8_t *data() const { return begin; }
    size_t bytes() const { return size; }
    // Moves its values to where they lie in this placement, from 0 to placements - 1. They begin in
    // placement 0, where they lie as those of large Buffers do, each at the same place of a page.
    void place(int placement);

private:
    size_t offset(int placement) const;
    struct Free {
        void operator()(uint8_t *p) const;
    };

    std::vector<tessera_dimension_t> dims;
    const size_t number, alignment, size, before;
    std::unique_ptr<uint8_t, Free> memory;
    uint8_t *begin = nullptr;
};

// Throws RuntimeError, which names the largest one, if all of them together have more bytes than
// there may be.
void require_memory(const std::vector<ArrayLayout> &all, uint64_t most_bytes);

}  // namespace tessera::autoscheduler
