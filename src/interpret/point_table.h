#pragma once
#include "interpret/value.h"

namespace tessera::interpret {

// Values at points of a grid that nobody knows the bounds of beforehand: a hash table with open
// addressing, all values of a point side by side.
class PointTable {
public:
    struct Cell {
        Word word = 0;
        uint8_t poison = 0;
    };

    PointTable(int dimensions, int values)
        : dimensions(size_t(dimensions)), values(size_t(values)) {}

    // Null if the point is not there. Valid until the next insert.
    Cell *find(const int32_t *point);
    // Adds a point that is not there yet.
    Cell *insert(const int32_t *point);
    void clear();

private:
    size_t slot_of(const int32_t *point) const;
    void grow();

    size_t dimensions, values, count = 0;
    std::vector<uint32_t> slots;  // 1 + the number of the point; 0: free
    std::vector<int32_t> points;
    std::vector<Cell> cells;
};

}  // namespace tessera::interpret
