#include "autoscheduler/space/product_tiles.h"
#include "autoscheduler/cost/gpu_kernel.h"
#include "ir/operators.h"
#include <algorithm>
#include <cmath>

namespace tessera::autoscheduler {

int64_t ProductTile::threads() const {
    int64_t product = 1;
    for (const ProductAxis &a : axes) product *= a.threads();
    return product;
}

namespace {

double tiles_along(int64_t all, int64_t of) { return double((all + of - 1) / of); }

class ProductTiles {
public:
    ProductTiles(const Graph &graph, const GpuMachine &machine, const GpuProduct &product)
        : graph(graph), machine(machine), product(product),
          update(graph.stages[size_t(product.update)]),
          bytes(graph.functions[size_t(product.function)].widest), all(graph.spans_of(update)) {
        for (const GpuOperand &o : product.operands)
            readers.insert(o.readers.begin() + 1, o.readers.end());
    }

    std::optional<ProductTile> operator()() {
        tile.stages = machine.limits.capability >= 80 ? 3 : 1;
        tile.unrolled_tap = tap_of_rows();
        tile.axes.resize(1 + std::min<size_t>(2, product.rows.size()));
        tile.axes[0].dimension = update.dimensions[product.column];
        for (size_t r = 0; r + 1 < tile.axes.size(); r++)
            tile.axes[r + 1].dimension = update.dimensions[product.rows[r]];
        choose_columns();
        return best;
    }

private:
    int64_t extent(size_t v) const { return std::max<int64_t>(1, all[v].extent()); }
    size_t variable_of(size_t axis) const {
        return axis == 0 ? product.column : product.rows[axis - 1];
    }
    // The variable of the sum by which the rows that are read are shifted.
    std::optional<size_t> tap_of_rows() const {
        constexpr int64_t most = 4;
        for (const Access &a : update.accesses) {
            for (const IndexProgram &i : a.index) {
                if (i.slope(product.rows[0]) != 1) continue;
                for (size_t v : product.taps) {
                    if (i.slope(v) == 1 && extent(v) <= most) return v;
                }
            }
        }
        return {};
    }
    bool has_window() const {
        return std::ranges::any_of(product.operands, [](const GpuOperand &o) {
            return !o.is_of_columns && o.along_depth == size_t(0);
        });
    }

    void choose_columns() {
        ProductAxis &a = tile.axes[0];
        const int64_t quad = std::clamp<int64_t>(16 / bytes, 1, 4);
        for (int64_t block : {32, 64, 128}) {
            if (block > 32 && block >= 2 * extent(product.column)) break;
            for (int64_t groups : {1, 2}) {
                a.block = block;
                a.points = quad;
                a.groups = groups;
                if (a.threads() >= 8) choose_rows();
            }
        }
    }
    void choose_rows() {
        ProductAxis &a = tile.axes[1];
        for (int64_t points : {1, 2, 3, 4, 5, 6, 8}) {
            for (int64_t threads : {1, 2, 4, 8, 16, 32}) {
                const bool is_in_groups = points == 8 && has_window() && !tile.unrolled_tap;
                a.groups = is_in_groups ? 2 : 1;
                a.points = points / a.groups;
                a.block = points * threads;
                if (a.block > points && a.block >= 2 * extent(product.rows[0])) break;
                if (tile.axes.size() == 2) {
                    choose_step();
                    continue;
                }
                for (int64_t more : {1, 2, 4, 8}) {
                    if (more >= 2 * extent(product.rows[1])) break;
                    tile.axes[2].block = more;
                    choose_step();
                }
            }
        }
    }
    void choose_step() {
        const int64_t threads = tile.threads();
        if (threads < 64 || threads > 512 || threads % GpuLimits::lanes != 0) return;
        for (int64_t step : {32, 16, 8, 4}) {
            if (step > 4 && step > extent(product.depth)) continue;
            tile.step = step;
            tile.unrolled = std::min<int64_t>(4, step);
            consider();
        }
    }

    struct Staged {
        double bytes = 0, row_bytes = 0;  // of a step; of the operands that columns share
    };
    Staged staged_in_step() const {
        Staged most;
        for (bool is_last : {false, true}) {
            std::vector<Span> spans = all;
            const auto narrow = [&](size_t v, int64_t count, bool from_end) {
                count = std::min(count, extent(v));
                spans[v] = from_end ? Span{all[v].max - count + 1, all[v].max}
                                    : Span{all[v].min, all[v].min + count - 1};
            };
            for (size_t v = 0; v < update.pure; v++) narrow(v, 1, false);
            for (size_t v : product.outer) narrow(v, 1, false);
            for (size_t a = 0; a < tile.axes.size(); a++)
                narrow(variable_of(a), tile.axes[a].block, is_last && a > 0);
            narrow(product.depth, tile.step, false);
            const NeededBoxes boxes = boxes_needed(graph, update, spans, [&](int f) {
                const auto &stages = graph.functions[size_t(f)].stages;
                return stages.size() == 1 && readers.contains(stages[0]);
            });
            Staged here;
            for (const GpuOperand &o : product.operands) {
                const int size = o.source.function >= 0
                                     ? graph.functions[size_t(o.source.function)].bytes
                                     : graph.images[size_t(o.source.image)].bytes;
                const double b = points_in(boxes.of(o.source)) * size;
                here.bytes += b;
                if (!o.is_of_columns) here.row_bytes += b;
            }
            most.bytes = std::max(most.bytes, here.bytes);
        }
        return most;
    }

    // Returns the cycles of a multiprocessor, or nothing if the tile has no room.
    void consider() {
        constexpr double cached_bytes = 58, around = 2500, meeting = 80, latency = 900;
        const double lanes = GpuRates::lanes_issued;
        const auto &columns = tile.axes[0], &rows = tile.axes[1];
        const double words = std::max(1.0, bytes / 4.0);
        const double of_thread = double(columns.of_thread() * rows.of_thread()) * words;
        const double window = has_window() ? double(rows.points * tile.unrolled) : 0;
        const int registers = int(of_thread + double(columns.of_thread()) * words + window +
                                  double(rows.of_thread()) + 30);
        if (registers > GpuLimits::registers_of_thread - 16) return;
        const Staged staged = staged_in_step();
        const double shared = staged.bytes * tile.stages;
        if (shared > machine.limits.shared_of_block()) return;
        const auto threads = double(tile.threads());
        const int resident =
            resident_blocks(machine.limits, {int(threads), (registers + 7) / 8 * 8, int(shared)});
        if (resident == 0) return;

        double blocks = 1, steps = tiles_along(extent(product.depth), tile.step), taps = 1;
        for (size_t v = 0; v < update.pure; v++) {
            int64_t of = 1;
            for (size_t a = 0; a < tile.axes.size(); a++) {
                if (variable_of(a) == v) of = tile.axes[a].block;
            }
            blocks *= tiles_along(extent(v), of);
        }
        for (size_t v : product.taps) taps *= double(extent(v));
        for (size_t v : product.outer) steps *= double(extent(v));
        const double per_step = double(tile.step) * taps;
        // Loads of columns by 16 bytes; of rows, one value for all lanes, or four along the depth.
        const double of_columns = double(columns.of_thread()) / 4 * words;
        const double of_rows = double(rows.of_thread()) * words / (has_window() ? 4 : 1);
        const double issued = threads * per_step * (of_thread + of_columns + of_rows) / lanes +
                              staged.bytes / 16 * 10 / lanes;
        const double rows_of_warp = std::max(1.0, GpuLimits::lanes / double(columns.threads()));
        const double wide = std::min<double>(GpuLimits::lanes, double(columns.threads()));
        const double loaded =
            threads / GpuLimits::lanes * per_step *
            (of_columns * std::max(1.0, wide * 16 / 128) + of_rows * rows_of_warp);
        const double on_processors = std::ceil(blocks / machine.card.multiprocessors);
        const double together = std::min<double>(resident, on_processors);
        const double waves = std::ceil(blocks / (double(machine.card.multiprocessors) * resident));
        const double longest = std::max({issued, loaded, staged.bytes / cached_bytes}) * together;
        // Few warps wait for what they load.
        const double warps = together * threads / GpuLimits::lanes;
        double step = longest * std::max(1.0, 8 / warps) + meeting;
        if (tile.stages > 1)
            step = std::max(step, latency / (tile.stages - 1));
        else
            step += latency / together;
        const double cycles = waves * (steps * step + around);
        if (best && best->cycles <= cycles) return;
        best = tile;
        best->registers = registers;
        best->shared_bytes = shared;
        best->blocks = blocks;
        best->cycles = cycles;
        std::erase_if(best->axes, [&](const ProductAxis &a) {
            return &a != &best->axes[0] && &a != &best->axes[1] && a.block == 1;
        });
    }

    const Graph &graph;
    const GpuMachine &machine;
    const GpuProduct &product;
    const StageNode &update;
    const int bytes;
    const std::vector<Span> all;
    std::set<int> readers;  // stages through which operands are read
    ProductTile tile;
    std::optional<ProductTile> best;
};

}  // namespace

std::optional<ProductTile> choose_product_tile(const Graph &graph, const GpuMachine &machine,
                                               const GpuProduct &product) {
    return ProductTiles(graph, machine, product)();
}

}  // namespace tessera::autoscheduler
