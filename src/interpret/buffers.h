#pragma once
#include "base/symbol.h"
#include "ir/enums.h"
#include "ir/type.h"
#include "runtime/tessera_runtime.h"
#include <functional>
#include <vector>

namespace tessera::interpret {

// Memory for a buffer that is made up while interpreting. The struct points into itself.
struct OwnedBuffer {
    tessera_buffer_t buffer = {};
    std::vector<tessera_dimension_t> dims;
    std::vector<uint8_t> data;

    // Without host memory: the question of a bounds query.
    OwnedBuffer(Type type, std::vector<tessera_dimension_t> dims);
    OwnedBuffer(const OwnedBuffer &) = delete;
    void allocate();
};

// The element at a point, or null if it is outside of the buffer.
uint8_t *element_at(const tessera_buffer_t &buffer, const int32_t *point);
// Calls f for each point of the box, the first dimension fastest.
void for_each_point(const std::vector<int32_t> &low, const std::vector<int32_t> &high,
                    const std::function<void(const std::vector<int32_t> &)> &f);

// A field of the buffer; RuntimeError if it has no such dimension.
int64_t property_of(const tessera_buffer_t &buffer, Symbol name, BufferField field, int dim);

}  // namespace tessera::interpret
