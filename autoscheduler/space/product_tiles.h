#pragma once
#include "autoscheduler/machine/gpu.h"
#include "autoscheduler/space/gpu_products.h"

namespace tessera::autoscheduler {

// Says how a dimension of a product is shared out: a block has so many values, in groups that are
// as far apart as a group is wide; a thread has so many neighbours of each group.
struct ProductAxis {
    size_t dimension = 0;
    int64_t block = 1, points = 1, groups = 1;
    int64_t threads() const { return block / points / groups; }
    int64_t of_thread() const { return points * groups; }
};

// The tile of a product's block, which multiply-adds of its threads compute.
struct ProductTile {
    std::vector<ProductAxis> axes;  // columns, then rows
    int64_t step = 1;               // of the depth
    int64_t unrolled = 4;           // of a step
    std::optional<size_t>
        unrolled_tap;   // a variable of the sum along which rows share what is read
    int stages = 1;     // of the copies that run ahead; 1: none do
    int registers = 0;  // of a thread, about
    double shared_bytes = 0, blocks = 0;  // of a block; of all
    double cycles = 0;  // that are expected of a multiprocessor for all of its tiles
    int64_t threads() const;
};

// Returns the tile that is expected to be the fastest of those that have room; nothing if none has.
std::optional<ProductTile> choose_product_tile(const Graph &graph, const GpuMachine &machine,
                                               const GpuProduct &product);

}  // namespace tessera::autoscheduler
