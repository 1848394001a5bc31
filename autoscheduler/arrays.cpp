#include "autoscheduler/arrays.h"
#include "base/error.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace tessera::autoscheduler {
namespace {

constexpr size_t page = 4096;

std::string need_of(const ArrayLayout &a) {
    std::string sizes;
    for (const tessera_dimension_t &d : a.dims) sizes += str(sizes.empty() ? "" : "x", d.extent);
    return str(a.name, " of ", sizes, " values needs ", a.bytes(), " bytes");
}

}  // namespace

size_t ArrayLayout::bytes() const {
    uint64_t elements = 1;
    for (const tessera_dimension_t &d : dims) {
        if (d.extent <= 0) return 0;
        elements += uint64_t(d.extent - 1) * uint64_t(std::abs(int64_t(d.stride)));
    }
    return elements * element_bytes();
}

size_t ArrayLayout::bytes_before() const {
    uint64_t elements = 0;
    for (const tessera_dimension_t &d : dims) {
        if (d.stride < 0 && d.extent > 0)
            elements += uint64_t(d.extent - 1) * uint64_t(-int64_t(d.stride));
    }
    return elements * element_bytes();
}

void Array::Free::operator()(uint8_t *p) const { std::free(p); }

Array::Array(const ArrayLayout &layout, size_t number)
    : dims(layout.dims), number(number), alignment(std::max<size_t>(1, layout.alignment)),
      size(layout.bytes()), before(layout.bytes_before()) {
    // Behind its place in a page, and what that is rounded up to.
    const size_t unit = std::max(page, alignment);
    const size_t room = (size + before + 2 * page + 2 * alignment + unit - 1) / unit * unit;
    memory.reset(static_cast<uint8_t *>(std::aligned_alloc(unit, room)));
    if (!memory) throw RuntimeError(str("there is no memory: ", need_of(layout)));
    std::memset(memory.get(), 0, room);
    buffer.type = layout.type;
    buffer.type.lanes = 1;
    buffer.dimensions = int32_t(dims.size());
    buffer.dim = dims.data();
    begin = memory.get() + offset(0);
    buffer.host = begin + before;
}

size_t Array::offset(int placement) const {
    constexpr size_t of_buffers = 128, odd_lines = 19 * size_t(64), of_malloc = 16;
    const size_t wanted = placement == 0   ? of_buffers
                          : placement == 1 ? (of_buffers + (number + 1) * odd_lines) % page
                                           : of_malloc;
    const size_t of_first = wanted + before;
    return (of_first + alignment - 1) / alignment * alignment - before;
}

void Array::place(int placement) {
    uint8_t *to = memory.get() + offset(placement);
    std::memmove(to, begin, size);
    begin = to;
    buffer.host = begin + before;
}

void require_memory(const std::vector<ArrayLayout> &all, uint64_t most_bytes) {
    const uint64_t machine = uint64_t(sysconf(_SC_PHYS_PAGES)) * uint64_t(sysconf(_SC_PAGESIZE)),
                   most = std::min(most_bytes, machine);
    // Sums of floats, since the bytes of one may be nearly all that there are numbers for.
    double sum = 0;
    for (const ArrayLayout &a : all) sum += double(a.bytes());
    if (sum <= double(most)) return;
    const ArrayLayout &largest = *std::ranges::max_element(all, {}, &ArrayLayout::bytes);
    throw RuntimeError(str("there is no memory to measure with: ", need_of(largest),
                           ", and all inputs and outputs may have ", most,
                           " together; estimate smaller sizes, or have nothing measured"));
}

}  // namespace tessera::autoscheduler
