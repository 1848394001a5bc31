#include "autoscheduler/space/gpu_tensor_products.h"
#include "autoscheduler/cost/tensor_tiles.h"
#include "ir/instruction.h"
#include "program/match_instruction.h"
#include <algorithm>

namespace tessera::autoscheduler {

using namespace program;

namespace {

// An instruction's family, and the tile of a block: so many values of each variable of rows.
struct TensorChoice {
    std::string family;
    TensorTiles tiles;
    std::vector<int64_t> rows;  // per variable of GpuProduct::rows; 1: blocks go along it
};

class TensorChoosing {
public:
    TensorChoosing(const Graph &graph, const GpuMachine &machine, const GpuProduct &product)
        : graph(graph), product(product), update(graph.stages[size_t(product.update)]),
          f(graph.functions[size_t(product.function)]), capability(machine.limits.capability) {
        model.processors = machine.card.multiprocessors;
        model.shared_bytes = machine.limits.shared_of_block();
        model.products = machine.rates.tensor_f16;
    }

    std::optional<TensorChoice> operator()() {
        if (!has_two_operands()) return {};
        for (size_t v = 0; v < update.pure; v++) {
            if (!f.is_constant[update.dimensions[v]]) return {};
        }
        fill_in_shape();
        const bool has_boxes = may_be_copied(*a) && may_be_copied(*b);
        if (capability == 90 && has_boxes && is_along_sum_or_wide() && has_instruction("wgmma")) {
            if (auto found = with_warpgroups()) return found;
        }
        if (has_instruction("mma")) return with_warps();
        return {};
    }

private:
    int64_t extent(size_t v) const {
        return std::max<int64_t>(1, graph.spans_of(update)[v].extent());
    }
    int bytes_of(const GpuOperand &o) const {
        return o.source.function >= 0 ? graph.functions[size_t(o.source.function)].bytes
                                      : graph.images[size_t(o.source.image)].bytes;
    }
    bool has_two_operands() {
        if (product.operands.size() != 2) return false;
        for (const GpuOperand &o : product.operands) (o.is_of_columns ? b : a) = &o;
        return a && b && bytes_of(*a) == bytes_of(*b);
    }
    // 64 columns are the fewest that a kind of layout of operands by rows has; any will do here.
    bool has_instruction(const char *family) const {
        for (const ir::Instruction &i : ir::instructions_named(family, 64)) {
            const bool is_there =
                i.is_of_one_capability ? capability == i.capability : capability >= i.capability;
            if (!is_there || i.rounds_operands) continue;
            if (!match_instruction(*f.function, *update.definition, i).empty()) return true;
        }
        return false;
    }
    void fill_in_shape() {
        shape.columns = int(extent(product.column));
        int64_t depth = extent(product.depth);
        for (const auto *some : {&product.taps, &product.outer}) {
            for (size_t v : *some) depth *= extent(v);
        }
        shape.depth = int(depth);
        shape.operand_bytes = bytes_of(*a);
        shape.result_bytes = f.bytes;
        for (size_t v = 0; v < update.pure; v++) {
            if (v != product.column && std::ranges::find(product.rows, v) == product.rows.end())
                shape.batch *= int(extent(v));
        }
        shape.a_by_columns = a->along_depth != size_t(0);
        shape.b_by_columns = b->along_depth == size_t(0);
    }
    // Bytes that are not stored along the sum are for mma alone.
    bool is_along_sum_or_wide() const {
        return shape.operand_bytes == 2 || (!shape.a_by_columns && shape.b_by_columns);
    }

    // The machine copies boxes only of what has rows at multiples of 16 bytes. Where rows are
    // promised to be elsewhere, threads copy; of a Buffer of the program that is not known in time.
    bool may_be_copied(const GpuOperand &o) const {
        return o.source.function < 0 ? has_even_rows(graph.images[size_t(o.source.image)])
                                     : has_even_rows(o.source.function);
    }
    static bool has_even_rows(const ImageNode &image) {
        for (size_t d = 1; d < image.strides.size(); d++) {
            const auto stride = image.strides[d];
            if (!stride || (image.is_constant && *stride * image.bytes % 16 != 0)) return false;
        }
        return true;
    }
    bool has_even_rows(int function) const {
        const FunctionNode &node = graph.functions[size_t(function)];
        if (node.is_extern) return false;
        bool is_of_images = !node.stages.empty();
        for (int s : node.stages) {
            for (const Access &read : graph.stages[size_t(s)].accesses) {
                if (read.source.image < 0)
                    is_of_images = false;
                else if (!has_even_rows(graph.images[size_t(read.source.image)]))
                    return false;
            }
        }
        return is_of_images || (!node.required.empty() && node.is_constant[0] &&
                                node.required[0].extent() * node.bytes % 16 == 0);
    }

    std::optional<TensorChoice> with_warpgroups() const {
        std::vector<int> extents;
        for (size_t v : product.rows) {
            if (extents.size() < 3) extents.push_back(int(extent(v)));
        }
        TensorShape of = shape;
        for (size_t r = extents.size(); r < product.rows.size(); r++)
            of.batch *= int(extent(product.rows[r]));
        if (extents.size() == 1) {
            of.rows = extents[0];
            for (const TensorTiles &t : possible_tiles(of, model)) {
                if (is_whole(t, t.rows, extents[0])) return choice("wgmma", t, {t.rows});
            }
            return {};
        }
        for (const TensorPlaces &p : possible_places(extents, of, false, model)) {
            if (is_whole(p.of_product, 1, 1)) return choice("wgmma", p.of_product, p.sizes);
        }
        return {};
    }
    bool is_whole(const TensorTiles &t, int rows, int64_t of) const {
        return t.slices == 1 && rows <= of && t.columns <= shape.columns;
    }
    std::optional<TensorChoice> with_warps() const {
        TensorShape of = shape;
        of.rows = int(extent(product.rows[0]));
        for (size_t r = 1; r < product.rows.size(); r++) of.batch *= int(extent(product.rows[r]));
        for (const TensorTiles &t : possible_mma_tiles(of, model)) {
            if (t.rows <= of.rows && t.columns <= of.columns) return choice("mma", t, {t.rows});
        }
        return {};
    }
    TensorChoice choice(const char *family, const TensorTiles &t,
                        const std::vector<int> &sizes) const {
        TensorChoice c = {family, t, std::vector<int64_t>(product.rows.size(), 1)};
        std::ranges::copy(sizes, c.rows.begin());
        return c;
    }

    const Graph &graph;
    const GpuProduct &product;
    const StageNode &update;
    const FunctionNode &f;
    const int capability;
    const GpuOperand *a = nullptr, *b = nullptr;
    TensorMachine model;
    TensorShape shape = {};
};

// The tile is within the reader's values, wherever it is.
bool may_be_whole(const Graph &graph, const GpuReader &reader, const GpuProduct &product,
                  const TensorChoice &choice) {
    const StageNode &stage = graph.stages[size_t(reader.stage)];
    const FunctionNode &of = graph.functions[size_t(stage.function)];
    const StageNode &update = graph.stages[size_t(product.update)];
    const auto fits = [&](size_t v, int64_t size) {
        const size_t d = update.dimensions[v];
        const int64_t extent = of.required[d].extent();
        return of.is_constant[d] && (stage.number == 0 ? extent >= size : extent % size == 0);
    };
    if (!fits(product.column, choice.tiles.columns)) return false;
    for (size_t r = 0; r < product.rows.size(); r++) {
        if (!fits(product.rows[r], choice.rows[r])) return false;
    }
    return true;
}

class TensorSteps {
public:
    TensorSteps(const Graph &graph, const GpuProduct &product, const GpuReader &reader,
                const TensorChoice &choice)
        : graph(graph), product(product), of_reader(reader), choice(choice),
          update(graph.stages[size_t(product.update)]), reader(graph.stages[size_t(reader.stage)]),
          f(graph.functions[size_t(product.function)]) {}

    GpuStructure operator()() {
        s.rule = "tensor cores: " + f.name;
        s.scheduled.insert(f.function->name);
        choose_axes();
        share_sums(share_reader());
        return s;
    }

private:
    // A dimension of the tile: so many values, which `shares` warps or warpgroups divide among
    // them.
    struct Axis {
        size_t dimension;
        int64_t size, shares;
    };
    bool has_warpgroups() const { return choice.tiles.warp_rows == 0; }
    LoopKind kind() const { return has_warpgroups() ? LoopKind::GPUWarpgroup : LoopKind::GPUWarp; }

    void choose_axes() {
        const TensorTiles &t = choice.tiles;
        axes.push_back({update.dimensions[product.column], t.columns,
                        has_warpgroups() ? 1 : t.columns / t.warp_columns});
        for (size_t r = 0; r < product.rows.size(); r++) {
            if (choice.rows[r] > 1)
                axes.push_back({update.dimensions[product.rows[r]], choice.rows[r], 1});
        }
        if (!has_warpgroups()) {
            axes.back().shares = t.rows / t.warp_rows;
            return;
        }
        // Warpgroups share the outermost of the rows that has enough values, which goes outermost.
        size_t shared = axes.size() - 1;
        while (shared > 1 && axes[shared].size % t.warpgroups != 0) shared--;
        std::rotate(axes.begin() + long(shared), axes.begin() + long(shared) + 1, axes.end());
        axes.back().shares = t.warpgroups;
    }

    // The loops over a tile, innermost first: those of an instruction, and those over warps.
    struct Shared {
        std::vector<Symbol> within, warps;
    };
    void share(LoopWriter &loops, const Axis &axis, Symbol loop, Shared &to) const {
        const int64_t each = axis.size / axis.shares;
        const bool is_of_warps = &axis == &axes.back() || !has_warpgroups();
        if (!is_of_warps) return to.within.push_back(loop);
        if (each == 1) return to.warps.push_back(loop);
        const auto [warp, in] = loops.split(loop, each, TailStrategy::GuardWithIf, "_warp", "_of");
        to.within.push_back(in);
        to.warps.push_back(warp);
    }
    void set_kinds(LoopWriter &loops, const Shared &shared) const {
        for (Symbol w : shared.warps) loops.set_kind(w, kind());
    }
    size_t axis_of(size_t dimension) const {
        return size_t(std::ranges::find(axes, dimension, &Axis::dimension) - axes.begin());
    }

    LoopLevel share_reader() {
        const FunctionNode &of = graph.functions[size_t(reader.function)];
        place_reader(graph, of_reader, s);
        const TailStrategy tail =
            reader.number == 0 ? TailStrategy::ShiftInwards : TailStrategy::GuardWithIf;
        LoopWriter loops(*of.function, reader.number, s.steps);
        std::vector<Symbol> within(axes.size()), blocks;
        for (size_t v = 0; v < reader.pure; v++) {
            Symbol loop = reader.variables.name(v);
            const size_t axis = axis_of(reader.dimensions[v]);
            if (axis < axes.size()) {
                const auto [block, in] = loops.split(loop, axes[axis].size, tail, "_block", "_in");
                within[axis] = in;
                loop = block;
            }
            blocks.push_back(loop);
        }
        Shared shared;
        for (size_t a = 0; a < axes.size(); a++) share(loops, axes[a], within[a], shared);
        loops.fuse_to_grid(blocks);
        std::vector<Symbol> order = shared.within;
        order.insert(order.end(), shared.warps.begin(), shared.warps.end());
        std::vector<Symbol> sums = sums_of(reader);
        for (const auto *some : {&sums, &blocks})
            order.insert(order.end(), some->begin(), some->end());
        loops.reorder(order);
        set_kinds(loops, shared);
        for (Symbol b : blocks) loops.set_kind(b, LoopKind::GPUBlock);
        if (choice.tiles.group > 1 && blocks.size() == 2)
            loops.add(GroupBlocks{Expr(int32_t(choice.tiles.group))});
        if (has_warpgroups() && choice.tiles.resident > 1)
            loops.add(ResidentBlocks{Expr(int32_t(choice.tiles.resident))});
        return loops.at(sums.empty() ? blocks.front() : sums.front());
    }

    void share_axes(LoopWriter &loops, const StageNode &stage, Shared &shared,
                    std::vector<Symbol> &others) const {
        std::vector<Symbol> of_axes(axes.size());
        for (size_t v = 0; v < stage.pure; v++) {
            const size_t axis = axis_of(stage.dimensions[v]);
            if (axis < axes.size())
                of_axes[axis] = stage.variables.name(v);
            else
                others.push_back(stage.variables.name(v));
        }
        for (size_t a = 0; a < axes.size(); a++) share(loops, axes[a], of_axes[a], shared);
    }
    void share_sums(const LoopLevel &block) {
        add_directive(s.steps, f.function->name, ComputeLevel{block});
        add_directive(s.steps, f.function->name, StoreIn{MemoryType::Tile});
        LoopWriter init(*f.function, 0, s.steps), loops(*f.function, 1, s.steps);
        Shared of_init, shared;
        std::vector<Symbol> others, order;
        share_axes(init, graph.stages[size_t(f.stages[0])], of_init, others);
        for (const auto *some : {&of_init.within, &of_init.warps, &others})
            order.insert(order.end(), some->begin(), some->end());
        init.reorder(order);
        set_kinds(init, of_init);

        others.clear();
        share_axes(loops, update, shared, others);
        const auto [steps, within] =
            loops.split(update.variables.name(product.depth), choice.tiles.step,
                        TailStrategy::GuardWithIf, "_step", "_in");
        Symbol step = steps;
        std::vector<size_t> sums = product.taps;
        sums.insert(sums.end(), product.outer.begin(), product.outer.end());
        if (!sums.empty()) {
            Symbol taps = update.variables.name(sums[0]);
            for (size_t n = 1; n < sums.size(); n++)
                taps = loops.fuse(taps, update.variables.name(sums[n]));
            step = loops.fuse(taps, steps);
        }
        order = {within};
        for (const auto *some : {&shared.within, &shared.warps})
            order.insert(order.end(), some->begin(), some->end());
        order.push_back(step);
        order.insert(order.end(), others.begin(), others.end());
        loops.reorder(order);
        set_kinds(loops, shared);
        for (Symbol in : shared.within) loops.add(Tensorize{in, choice.family});
        loops.add(Tensorize{within, choice.family});
        for (const GpuOperand &operand : product.operands)
            stage_operand(graph, product, operand, loops.at(step), choice.tiles.stages, s);
    }

    const Graph &graph;
    const GpuProduct &product;
    const GpuReader &of_reader;
    const TensorChoice &choice;
    const StageNode &update, &reader;
    const FunctionNode &f;
    std::vector<Axis> axes;  // columns, then rows, innermost first
    GpuStructure s;
};

}  // namespace

bool is_for_tensor_cores(const Graph &graph, const GpuMachine &machine, const GpuProduct &product) {
    return TensorChoosing(graph, machine, product)().has_value();
}

GpuStructure products_by_tensor_cores(const Graph &graph, const GpuMachine &machine) {
    GpuStructure all;
    for (size_t n = 0; n < graph.functions.size(); n++) {
        const auto product = product_of(graph, int(n));
        const auto reader = product ? reader_of_values(graph, int(n)) : std::nullopt;
        if (!reader) continue;
        const int of = graph.stages[size_t(reader->stage)].function;
        if (all.scheduled.contains(graph.functions[size_t(of)].function->name)) continue;
        const auto choice = TensorChoosing(graph, machine, *product)();
        if (choice && may_be_whole(graph, *reader, *product, *choice))
            all.append(TensorSteps(graph, *product, *reader, *choice)());
    }
    return all;
}

}  // namespace tessera::autoscheduler
