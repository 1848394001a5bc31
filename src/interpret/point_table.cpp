#include "interpret/point_table.h"
#include <algorithm>

namespace tessera::interpret {

size_t PointTable::slot_of(const int32_t *point) const {
    uint64_t hash = 0;
    for (size_t d = 0; d < dimensions; d++) {
        hash = (hash + uint32_t(point[d])) * 0x9E3779B97F4A7C15ull;
        hash ^= hash >> 32;
    }
    size_t mask = slots.size() - 1, at = size_t(hash) & mask;
    while (slots[at]) {
        const int32_t *there = points.data() + (slots[at] - 1) * dimensions;
        if (std::equal(point, point + dimensions, there)) break;
        at = (at + 1) & mask;
    }
    return at;
}

PointTable::Cell *PointTable::find(const int32_t *point) {
    if (slots.empty()) return nullptr;
    size_t at = slot_of(point);
    return slots[at] ? cells.data() + (slots[at] - 1) * values : nullptr;
}

PointTable::Cell *PointTable::insert(const int32_t *point) {
    if (2 * (count + 1) > slots.size()) grow();
    slots[slot_of(point)] = uint32_t(++count);
    points.insert(points.end(), point, point + dimensions);
    cells.resize(count * values);
    return cells.data() + (count - 1) * values;
}

void PointTable::grow() {
    slots.assign(std::max<size_t>(16, slots.size() * 2), 0);
    for (size_t i = 0; i < count; i++) {
        slots[slot_of(points.data() + i * dimensions)] = uint32_t(i + 1);
    }
}

void PointTable::clear() {
    count = 0;
    slots.clear();
    points.clear();
    cells.clear();
}

}  // namespace tessera::interpret
