#include "interpret/buffers.h"
#include "base/error.h"
#include <algorithm>

namespace tessera::interpret {

OwnedBuffer::OwnedBuffer(Type type, std::vector<tessera_dimension_t> dimensions)
    : dims(std::move(dimensions)) {
    buffer.type = {uint8_t(type.code()), uint8_t(type.bits()), 1};
    buffer.dimensions = int32_t(dims.size());
    buffer.dim = dims.data();
}

void OwnedBuffer::allocate() {
    int64_t elements = 1;
    for (tessera_dimension_t &dim : dims) {
        dim.stride = int32_t(elements);
        elements *= std::max(dim.extent, 0);
    }
    data.assign(size_t(elements) * ((buffer.type.bits + 7u) / 8), 0);
    buffer.host = data.data();
}

uint8_t *element_at(const tessera_buffer_t &buffer, const int32_t *point) {
    int64_t offset = 0;
    for (int d = 0; d < buffer.dimensions; d++) {
        int64_t at = int64_t(point[d]) - buffer.dim[d].min;
        if (at < 0 || at >= buffer.dim[d].extent) return nullptr;
        offset += at * buffer.dim[d].stride;
    }
    return buffer.host + offset * ((buffer.type.bits + 7) / 8);
}

void for_each_point(const std::vector<int32_t> &low, const std::vector<int32_t> &high,
                    const std::function<void(const std::vector<int32_t> &)> &f) {
    for (size_t d = 0; d < low.size(); d++) {
        if (low[d] > high[d]) return;
    }
    std::vector<int32_t> point = low;
    size_t d = 0;
    do {
        f(point);
        for (d = 0; d < low.size(); d++) {
            if (point[d]++ < high[d]) break;
            point[d] = low[d];
        }
    } while (d < low.size());
}

int64_t property_of(const tessera_buffer_t &b, Symbol name, BufferField field, int dim) {
    if (field <= BufferField::Stride && dim >= b.dimensions) {
        throw RuntimeError(str("buffer ", name, " has no dimension ", dim));
    }
    switch (field) {
    case BufferField::Min: return b.dim[dim].min;
    case BufferField::Extent: return b.dim[dim].extent;
    case BufferField::Stride: return b.dim[dim].stride;
    case BufferField::Host: return int64_t(uintptr_t(b.host));
    case BufferField::Dimensions: return b.dimensions;
    case BufferField::TypeCode: return b.type.code;
    case BufferField::TypeBits: return b.type.bits;
    case BufferField::Device: return int64_t(b.device);
    }
    throw InternalError("unknown field of a buffer");
}

}  // namespace tessera::interpret
