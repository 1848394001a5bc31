// Chooses the tiles of a product of matrices on tensor cores, for a GPU of compute capability 9.0:
// from the sizes, by what a multiprocessor multiplies, loads and holds. There is no list of
// problems: all shapes go through the same model. The rules for GPUs use it, and the apps'
// schedules by hand.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

namespace tessera::autoscheduler {

// Describes one GPU. Rates are of a multiprocessor in a cycle. Those that no data sheet has were
// fitted to 500 kernels that an H200 had run (bench/gpu/bench_gemm --candidates): that was off by
// 11 % on average, and what it chose took 0.2 % longer than the best of each row. `chain` and what
// is said of copies by threads came after a second run.
struct TensorMachine {
    int processors = 132;
    int shared_bytes = 227 * 1024;  // of a block
    int registers = 64 * 1024;      // of a multiprocessor, 32 bits each
    double products = 2048;         // of 16 bits; of bytes twice, of tf32 half as many
    double loaded_bytes = 65;       // from the L2 cache
    double operand_bytes = 99;      // that instructions read of the memory of a block
    double memory_bytes = 25;       // of the device's memory, if all multiprocessors read
    double stored_bytes = 30;       // of results, by 16 bytes at a time
    // Cycles: of a block until its first operands are there and after its last sums; of these what
    // another block hides; of a load; between two steps of a block; for its warpgroups to meet.
    double around = 1950, hidden = 0.4, latency = 1170, between = 65, meeting = 75;
    // Cycles of the instructions of a step, which wait for one another; of a thread for an element
    // that threads copy one by one, of which a multiprocessor copies so many in a cycle at most; of
    // another kernel.
    double chain = 300, element = 70, elements = 3.6, kernel = 3500;
};

// result (rows x columns, of each of `batch` products) = a (rows x depth) * b (depth x columns).
struct TensorShape {
    int rows, columns, depth;
    int operand_bytes = 2;  // of an element of a and b
    int result_bytes = 2;   // of an element of the result
    int batch = 1;
    bool a_by_columns = false;  // a is stored column by column: its rows are neighbours
    bool b_by_columns = true;   // b is stored column by column: the depth is dense, as in a
    int slice_units = 0;        // slices of the sum divide this number; 0: whole steps of the depth
    // Returns true if the machine copies boxes of both: their rows are multiples of 16 bytes.
    bool has_boxes() const {
        const int of_a = a_by_columns ? rows : depth, of_b = b_by_columns ? depth : columns;
        return of_a * operand_bytes % 16 == 0 && of_b * operand_bytes % 16 == 0;
    }
};

// The tile of a block; each warpgroup has its share of rows.
struct TensorTiles {
    int rows, columns, step;  // step: of the sum
    int warpgroups = 1, stages = 2;
    int resident = 1;  // blocks of a multiprocessor
    int group = 8;     // rows of blocks that are begun together
    int slices = 1;    // of the sum, that are computed by blocks of their own
    bool persistent = false, roles = false;
    int warp_rows = 0, warp_columns = 0;  // of mma.sync; 0: wgmma
    double cycles = 0;  // that are expected of a multiprocessor for all of its tiles
};

namespace tensor_model {

inline int64_t divided_up(int64_t n, int64_t by) { return (n + by - 1) / by; }

// Returns true if a block has room in the registers and memory of a multiprocessor, and fills in
// how many stages.
inline bool has_room(TensorTiles &t, const TensorShape &s, const TensorMachine &m) {
    // A thread has its share of the sums and some more; a multiprocessor gives registers to warps
    // by eights, and a thread has 255 at most. Threads that copy need some for it.
    const int warps = int(divided_up((t.warpgroups * 4 + t.roles) * t.resident, 4) * 4);
    const int registers = std::min(255, m.registers / (warps * 32) / 8 * 8);
    const int sums = t.rows * t.columns / (t.warpgroups * 128);
    // Several warpgroups that copy wait for one another.
    if (!s.has_boxes() && t.warpgroups > 1) return false;
    if (warps > 64 || sums + (s.has_boxes() ? 38 : 80) > registers) return false;
    const int64_t steps = divided_up(divided_up(s.depth, t.step), t.slices);
    const int64_t stage_bytes = int64_t(t.rows + t.columns) * t.step * s.operand_bytes;
    const int64_t room = m.shared_bytes / t.resident - 1024 * (t.resident > 1) - 256;
    const int64_t fewest = std::min<int64_t>(3, std::max<int64_t>(steps, 2));
    const int64_t most = 12;
    t.stages = int(std::min({room / stage_bytes, most, std::max<int64_t>(steps, 2)}));
    return t.stages >= fewest;
}

// Returns the cycles of a multiprocessor: waves of blocks, each of so many steps, with what comes
// before and after them.
inline double estimate(const TensorTiles &t, const TensorShape &s, const TensorMachine &m) {
    const int64_t steps = divided_up(divided_up(s.depth, t.step), t.slices);
    const int64_t tiles =
        divided_up(s.rows, t.rows) * divided_up(s.columns, t.columns) * int64_t(s.batch) * t.slices;
    const auto waves = double(divided_up(tiles, int64_t(m.processors) * t.resident));
    // The blocks that a multiprocessor runs at once in the fullest wave.
    const auto together = double(std::min<int64_t>(t.resident, divided_up(tiles, m.processors)));
    const double stage_bytes = double(t.rows + t.columns) * t.step * s.operand_bytes;
    const double products = double(t.rows) * t.columns * t.step * s.operand_bytes / 2 / m.products;
    const double read = double(t.rows + t.rows / 64 * t.columns) * t.step * s.operand_bytes;
    const double longest =
        std::max({products, stage_bytes / m.loaded_bytes, read / m.operand_bytes});
    double step = std::max(together * longest, m.chain) + together * m.between +
                  (t.warpgroups > 1 ? m.meeting : 0);
    step = std::max(step, m.latency / (t.stages - 1));
    if (!s.has_boxes()) {
        const double copied = stage_bytes / s.operand_bytes;
        step += std::max(copied / (t.warpgroups * 128) * m.element, together * copied / m.elements);
    }
    // Threads store 16 bytes at a time unless the rows of the result are cut elsewhere.
    const bool is_cut = s.columns % t.columns != 0 &&
                        (s.columns < t.columns || s.columns * s.result_bytes % 16 != 0);
    const double stored = t.slices > 1 ? 4 : is_cut ? 18 : s.result_bytes;
    const double around = m.around + together * t.rows * t.columns * stored / m.stored_bytes;
    const double shown = t.resident > 1 ? 1 - m.hidden : 1;
    double cycles = waves * double(steps) * step + around * (1 + (waves - 1) * shown);
    const double results = double(s.batch) * s.rows * s.columns;
    const double bytes = results * s.result_bytes +
                         double(s.batch) * (s.rows + s.columns) * s.depth * s.operand_bytes;
    cycles = std::max(cycles, bytes / m.processors / m.memory_bytes + m.around);
    if (t.slices > 1) cycles += m.kernel + results * 4 * t.slices / m.processors / m.memory_bytes;
    return cycles;
}

}  // namespace tensor_model

// Returns tiles that have room, the fastest ones by the model first.
inline std::vector<TensorTiles> possible_tiles(const TensorShape &s,
                                               const TensorMachine &machine = {}) {
    std::vector<TensorTiles> all;
    const int step = 128 / s.operand_bytes;
    const int units = s.slice_units > 0 ? s.slice_units : s.depth % step == 0 ? s.depth / step : 1;
    // Threads store 16 bytes at a time if a warpgroup has so many columns; operands whose columns
    // or rows are neighbours lie in panels of 128 bytes.
    const int columns_by = std::max(64 / s.result_bytes, s.b_by_columns ? 8 : step);
    const auto add = [&](TensorTiles t) {
        if (!tensor_model::has_room(t, s, machine)) return;
        t.cycles = tensor_model::estimate(t, s, machine);
        all.push_back(t);
    };
    for (int rows : {64, 128, 192, 256}) {
        for (int columns = columns_by; columns <= 256; columns += columns_by) {
            for (int warpgroups = 1; warpgroups <= rows / 64; warpgroups++) {
                if (rows / 64 % warpgroups != 0) continue;
                for (int resident : {1, 2, 3, 4}) {
                    for (int slices : {1, 2, 3, 4, 6, 8, 16}) {
                        if (units % slices != 0) continue;
                        TensorTiles t{rows, columns, step, warpgroups};
                        t.resident = resident;
                        t.slices = slices;
                        t.group = std::max(1, 2048 / rows);
                        add(t);
                    }
                }
            }
        }
    }
    if (all.empty()) throw std::invalid_argument("no tile of tensor cores has room");
    // Tiles that take as long come by how close instructions are to having as many columns as rows.
    const auto order = [](const TensorTiles &t) {
        return std::pair(t.cycles, std::abs(t.columns - 128));
    };
    std::stable_sort(all.begin(), all.end(), [&](const TensorTiles &a, const TensorTiles &b) {
        return order(a) < order(b);
    });
    return all;
}

inline TensorTiles choose_tiles(const TensorShape &s, const TensorMachine &machine = {}) {
    return possible_tiles(s, machine).front();
}

// A tile whose rows are places along several dimensions: so many of each, innermost first.
struct TensorPlaces {
    std::vector<int> sizes;
    TensorTiles of_product;
};

namespace tensor_model {

// Calls `add` with each way in which powers of two make so many rows, none of them `most` or more.
template<typename Add>
void for_each_shape(int rows, const std::vector<int> &most, std::vector<int> &sizes,
                    const Add &add) {
    const size_t d = sizes.size();
    const bool is_last = d + 1 == most.size();
    for (int size = is_last ? rows : 1; size <= rows; size *= 2) {
        if (rows % size != 0 || size >= most[d]) continue;
        sizes.push_back(size);
        if (is_last)
            add();
        else
            for_each_shape(rows / size, most, sizes, add);
        sizes.pop_back();
    }
}

}  // namespace tensor_model

// Returns tiles of places that have room, the fastest ones by the model first. `extents`: of the
// dimensions, innermost first; `may_go_beyond`: what is read beyond them is there, or zero.
// `product`: its rows are filled in, and count what is computed beyond the ends.
inline std::vector<TensorPlaces> possible_places(const std::vector<int> &extents,
                                                 TensorShape product, bool may_go_beyond,
                                                 const TensorMachine &machine = {}) {
    std::vector<TensorPlaces> all;
    std::vector<int> most;
    for (int extent : extents) most.push_back(may_go_beyond ? 2 * extent : extent + 1);
    for (int rows : {64, 128, 256}) {
        std::vector<int> sizes;
        tensor_model::for_each_shape(rows, most, sizes, [&] {
            product.rows = rows;
            for (size_t d = 0; d < sizes.size(); d++)
                product.rows *= int(tensor_model::divided_up(extents[d], sizes[d]));
            for (const TensorTiles &t : possible_tiles(product, machine))
                if (t.rows == rows) all.push_back({sizes, t});
        });
    }
    // Tiles that take as long are tried in this order: those that compute less beyond the ends, and
    // then those of few places of the outermost dimension, whose taps share more of what is loaded.
    const auto order = [&](const TensorPlaces &t) {
        int64_t tiles = 1;
        for (size_t d = 0; d < t.sizes.size(); d++)
            tiles *= tensor_model::divided_up(extents[d], t.sizes[d]);
        return std::tuple(t.of_product.cycles, tiles * t.of_product.rows, t.sizes.back());
    };
    std::stable_sort(all.begin(), all.end(), [&](const TensorPlaces &a, const TensorPlaces &b) {
        return order(a) < order(b);
    });
    return all;
}

// Returns tiles for mma.sync, the fastest ones by the model first. GPUs from compute capability 7.5
// on have it, and it multiplies operands of any layout: bytes and tf32 that are not stored along
// the sum have no other.
inline std::vector<TensorTiles> possible_mma_tiles(const TensorShape &s,
                                                   const TensorMachine &machine = {}) {
    constexpr int tiles[][4] = {
        {128, 128, 64, 64}, {128, 64, 64, 32}, {64, 64, 32, 32}, {32, 64, 16, 32}};
    std::vector<TensorTiles> all;
    for (const auto &[rows, columns, warp_rows, warp_columns] : tiles) {
        TensorTiles t{rows, columns, 64 / s.operand_bytes, 0, 4};
        t.warp_rows = warp_rows;
        t.warp_columns = warp_columns;
        t.group = std::max(1, 2048 / rows);
        const int64_t blocks = tensor_model::divided_up(s.rows, rows) *
                               tensor_model::divided_up(s.columns, columns) * s.batch;
        // A bit more than half as fast as wgmma, and less with small warps.
        const double rate = 0.58 * machine.products * 2 / s.operand_bytes * warp_rows *
                            warp_columns / (warp_rows * warp_columns + 512.0);
        t.cycles = double(tensor_model::divided_up(blocks, machine.processors)) *
                   (double(rows) * columns * s.depth / rate + machine.around);
        all.push_back(t);
    }
    std::stable_sort(all.begin(), all.end(), [](const TensorTiles &a, const TensorTiles &b) {
        return a.cycles < b.cycles;
    });
    return all;
}
inline TensorTiles choose_mma_tiles(const TensorShape &s, const TensorMachine &machine = {}) {
    return possible_mma_tiles(s, machine).front();
}

}  // namespace tessera::autoscheduler
