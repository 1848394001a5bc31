#include "autoscheduler/space/gpu_products.h"
#include "autoscheduler/mutate.h"
#include "autoscheduler/space/gpu_tensor_products.h"
#include "autoscheduler/space/product_tiles.h"
#include "ir/operators.h"
#include <algorithm>

namespace tessera::autoscheduler {

using namespace program;

namespace {

bool uses(const Access &a, size_t variable) {
    return std::ranges::any_of(
        a.index, [&](const IndexProgram &i) { return !i.growth(variable).is_none(); });
}

// The dimension of what is read that goes along a variable by ones, if that is the only one.
std::optional<size_t> only_dimension_along(const Access &a, size_t variable) {
    std::optional<size_t> found;
    for (size_t d = 0; d < a.index.size(); d++) {
        if (a.index[d].growth(variable).is_none()) continue;
        if (found || a.index[d].slope(variable) != 1) return std::nullopt;
        found = d;
    }
    return found;
}

std::optional<size_t> variable_of(const StageNode &stage, size_t dimension) {
    for (size_t v = 0; v < stage.pure; v++) {
        if (stage.dimensions[v] == dimension) return v;
    }
    return std::nullopt;
}

// A function that only has its arguments in another order, or part of another one by its name.
bool is_by_another_name(const Graph &graph, int function) {
    const FunctionNode &f = graph.functions[size_t(function)];
    if (f.stages.size() != 1 || f.consumers.size() != 1) return false;
    if (!may_be_inlined(graph, function) || graph.is_fixed[size_t(function)]) return false;
    const StageNode &stage = graph.stages[size_t(f.stages[0])];
    return stage.operations.total() == 0 && stage.accesses.size() == 1 &&
           stage.accesses[0].source.function >= 0;
}

GpuOperand operand_of(const Graph &graph, const Access &access, int update, size_t column,
                      const std::vector<size_t> &rows, size_t depth) {
    GpuOperand operand = {access.source, {update}, uses(access, column), {}, {}};
    operand.along_depth = only_dimension_along(access, depth);
    for (const IndexProgram &i : access.index)
        operand.is_along_rows.push_back(!i.growth(rows[0]).is_none());
    while (operand.source.function >= 0 && is_by_another_name(graph, operand.source.function)) {
        const int reader = graph.functions[size_t(operand.source.function)].stages[0];
        const StageNode &stage = graph.stages[size_t(reader)];
        const Access &next = stage.accesses[0];
        if (operand.along_depth) {
            const auto v = variable_of(stage, *operand.along_depth);
            operand.along_depth = v ? only_dimension_along(next, *v) : std::nullopt;
        }
        std::vector<bool> is_along_rows(next.index.size(), false);
        for (size_t v = 0; v < stage.pure; v++) {
            for (size_t d = 0; d < next.index.size(); d++) {
                if (operand.is_along_rows[stage.dimensions[v]] &&
                    !next.index[d].growth(v).is_none())
                    is_along_rows[d] = true;
            }
        }
        operand.is_along_rows = is_along_rows;
        operand.readers.push_back(reader);
        operand.source = next.source;
    }
    return operand;
}

int64_t extent_along(const Graph &graph, const StageNode &stage, size_t v) {
    return std::max<int64_t>(1, graph.spans_of(stage)[v].extent());
}

// Sorts the variables of the sum. False: no step of it can be taken.
bool choose_depth(const Graph &graph, const StageNode &update, GpuProduct &p) {
    constexpr int64_t few = 8, most_taps = 32;
    int64_t longest = 0;
    for (size_t v = update.pure; v < update.variables.size(); v++) {
        const int64_t extent = extent_along(graph, update, v);
        if (extent > longest) p.depth = v;
        longest = std::max(longest, extent);
    }
    int64_t taps = 1;
    for (size_t v = update.pure; v < update.variables.size(); v++) {
        if (v == p.depth) continue;
        const auto extent = ir::as_const_int(update.definition->reduction[v - update.pure].extent);
        const bool is_tap = extent && *extent <= few && taps * *extent <= most_taps;
        if (is_tap) taps *= *extent;
        (is_tap ? p.taps : p.outer).push_back(v);
    }
    return longest >= 4;
}

}  // namespace

std::optional<GpuProduct> product_of(const Graph &graph, int function) {
    constexpr int64_t least_columns = 16, least_rows = 8, least_points = 16;
    const FunctionNode &f = graph.functions[size_t(function)];
    if (graph.is_fixed[size_t(function)] || f.is_extern || f.is_read_by_extern) return {};
    if (f.stages.size() != 2 || f.function->types.size() != 1) return {};
    const StageNode &update = graph.stages[size_t(f.stages[1])];
    if (!is_associative_update(graph, update) || update.pure != f.function->args.size()) return {};
    GpuProduct p;
    p.function = function;
    p.update = f.stages[1];
    const auto column = variable_of(update, 0);
    if (!column || extent_along(graph, update, *column) < least_columns) return {};
    p.column = *column;
    if (!choose_depth(graph, update, p)) return {};

    std::vector<const Access *> of_columns, of_rows;
    for (const Access &a : update.accesses) {
        if (a.source.function == function) continue;
        if (std::ranges::any_of(a.index, &IndexProgram::reads_data)) return {};
        if (a.is_by_extern) return {};
        bool is_of_sum = false;
        for (size_t v = update.pure; v < update.variables.size(); v++) is_of_sum |= uses(a, v);
        if (is_of_sum) (uses(a, p.column) ? of_columns : of_rows).push_back(&a);
    }
    if (of_columns.empty() || of_rows.empty()) return {};
    double points = 1, rows = 1;
    for (size_t v = 0; v < update.variables.size(); v++) {
        if (v >= update.pure) points *= double(extent_along(graph, update, v));
        if (v == p.column || v >= update.pure || extent_along(graph, update, v) <= 1) continue;
        const auto reads_along = [&](const Access *a) { return uses(*a, v); };
        if (std::ranges::any_of(of_columns, reads_along)) continue;
        if (!std::ranges::all_of(of_rows, reads_along)) continue;
        p.rows.push_back(v);
        rows *= double(extent_along(graph, update, v));
    }
    if (p.rows.empty() || rows < least_rows || points < least_points) return {};
    for (const auto *some : {&of_columns, &of_rows}) {
        for (const Access *a : *some) {
            const GpuOperand operand = operand_of(graph, *a, p.update, p.column, p.rows, p.depth);
            // One that is read at two places is staged once, with all in between.
            const auto known = std::ranges::find(p.operands, operand.source, &GpuOperand::source);
            if (known == p.operands.end())
                p.operands.push_back(operand);
            else if (known->readers != operand.readers ||
                     known->is_of_columns != operand.is_of_columns)
                return {};
        }
    }
    return p;
}

// Returns true if each point of the stage reads the value at its own coordinates; parts, which an
// update adds up, are one.
static bool is_read_value_by_value(const Graph &graph, const StageNode &stage, const Access &a) {
    const std::vector<Span> all = graph.spans_of(stage);
    for (size_t v = stage.pure; v < all.size(); v++) {
        if (all[v].extent() > 1) return false;
    }
    for (size_t d = 0; d < a.index.size(); d++) {
        const size_t own = d < stage.pure ? variable_of(stage, d).value_or(d) : d;
        for (size_t v = 0; v < all.size(); v++) {
            const Growth &g = a.index[d].growth(v);
            if (v == own ? g != Growth::linear(1) : !g.is_none()) return false;
        }
        std::vector<Span> spans = all;
        spans[own] = {7, 7};
        if (d < stage.pure && a.index[d].run(spans) != Span{7, 7}) return false;
    }
    return true;
}

// The one stage that reads the function, if it does so value by value.
static int only_reader(const Graph &graph, int function) {
    const FunctionNode &f = graph.functions[size_t(function)];
    if (f.consumers.size() != 1) return -1;
    const int reader = f.consumers[0];
    const StageNode &stage = graph.stages[size_t(reader)];
    const FunctionNode &of = graph.functions[size_t(stage.function)];
    if (graph.is_fixed[size_t(stage.function)] || of.is_extern || of.is_read_by_extern) return -1;
    const size_t sums = stage.variables.size() - stage.pure;
    if (stage.pure + sums != f.function->args.size()) return -1;
    for (const Access &a : stage.accesses) {
        if (a.source.function == function && !is_read_value_by_value(graph, stage, a)) return -1;
    }
    return reader;
}

std::optional<GpuReader> reader_of_values(const Graph &graph, int function) {
    if (graph.functions[size_t(function)].is_output) return {};
    GpuReader reader = {only_reader(graph, function), {}};
    if (reader.stage < 0) return {};
    // Functions that read its values alone are computed with them.
    while (true) {
        const int n = graph.stages[size_t(reader.stage)].function;
        const FunctionNode &of = graph.functions[size_t(n)];
        if (of.is_output || of.stages.size() != 1 || !may_be_inlined(graph, n)) return reader;
        const int next = only_reader(graph, n);
        if (next < 0 || graph.stages[size_t(next)].is_reduction()) return reader;
        reader.between.push_back(n);
        reader.stage = next;
    }
}

Symbol stage_operand(const Graph &graph, const GpuProduct &product, const GpuOperand &operand,
                     const LoopLevel &step, int stages, GpuStructure &s) {
    const FunctionNode &f = graph.functions[size_t(product.function)];
    const StageNode &by = graph.stages[size_t(operand.readers.back())];
    const FunctionNode &reads = graph.functions[size_t(by.function)];
    Symbol made;
    if (operand.source.function >= 0) {
        const FunctionNode &of = graph.functions[size_t(operand.source.function)];
        made = name_made_of(graph, of, ("_for_" + f.name).c_str());
        s.steps.push_back({of.function->name, WrapStep{{reads.function->name}, made, false, {}}});
    } else {
        const ImageNode &image = graph.images[size_t(operand.source.image)];
        made = Symbol::interned(image.name + "_for_" + f.name);
        s.steps.push_back(
            {reads.function->name, StageStep{by.number, {}, {CopyInput{image.symbol, made}, {}}}});
    }
    for (int r : operand.readers) {
        const size_t reader = size_t(graph.stages[size_t(r)].function);
        s.scheduled.insert(graph.functions[reader].function->name);
    }
    s.scheduled.insert(made);
    add_directive(s.steps, made, ComputeLevel{step});
    add_directive(s.steps, made, StoreIn{MemoryType::GPUShared});
    if (stages > 1) {
        add_directive(s.steps, made, AsyncDirective{});
        add_directive(s.steps, made, RingBuffer{Expr(int32_t(stages))});
    }
    return made;
}

// Shares out the points of a stage of the reader's function beside the one that reads.
static void share_points(const Graph &graph, const StageNode &stage, GpuStructure &s) {
    const FunctionNode &of = graph.functions[size_t(stage.function)];
    LoopWriter loops(*of.function, stage.number, s.steps);
    const auto [block, thread] =
        loops.split(stage.variables.name(0), 128, TailStrategy::GuardWithIf, "_block", "_thread");
    std::vector<Symbol> order = {thread}, blocks = {block};
    for (size_t v = 1; v < stage.pure; v++) blocks.push_back(stage.variables.name(v));
    loops.fuse_to_grid(blocks);
    order.insert(order.end(), blocks.begin(), blocks.end());
    loops.reorder(order);
    loops.set_kind(thread, LoopKind::GPUThread);
    for (Symbol b : blocks) loops.set_kind(b, LoopKind::GPUBlock);
}

void place_reader(const Graph &graph, const GpuReader &reader, GpuStructure &s) {
    const FunctionNode &of = graph.functions[size_t(graph.stages[size_t(reader.stage)].function)];
    for (int n : reader.between) s.scheduled.insert(graph.functions[size_t(n)].function->name);
    s.scheduled.insert(of.function->name);
    if (!of.is_output) add_directive(s.steps, of.function->name, ComputeLevel{LoopLevel::root()});
    for (int stage : of.stages) {
        if (stage != reader.stage) share_points(graph, graph.stages[size_t(stage)], s);
    }
}

std::vector<Symbol> sums_of(const StageNode &reader) {
    if (!reader.is_reduction()) return {};
    std::vector<Symbol> sums;
    for (const Loop &l : reader.definition->schedule.loops) {
        if (l.is_reduction) sums.push_back(l.var);
    }
    return sums;
}

std::vector<Symbol> args_of_copy(const Graph &graph, const GpuOperand &operand) {
    if (operand.source.function >= 0)
        return graph.functions[size_t(operand.source.function)].function->args;
    std::vector<Symbol> args;
    const size_t count = graph.images[size_t(operand.source.image)].box.size();
    for (size_t d = 0; d < count; d++) args.push_back(Symbol::interned(str("_", d)));
    return args;
}

namespace {

// The same product with one more dimension, of as many values as there are parts of the depth that
// is expected: one. An update adds them to the output.
GpuStructure as_parts(const Graph &graph, const GpuProduct &p) {
    const FunctionNode &f = graph.functions[size_t(p.function)];
    const StageNode &update = graph.stages[size_t(p.update)];
    GpuStructure s;
    s.rule = "products: " + f.name;
    LoopWriter loops(*f.function, 1, s.steps);
    const size_t last = update.variables.size() - 1;
    const auto [all, within] =
        loops.split(update.variables.name(last), extent_along(graph, update, last),
                    TailStrategy::GuardWithIf, "_all", "_in");
    loops.rfactor(all, loops.new_name("part"), name_made_of(graph, f, "_product"));
    return s;
}

// Writes the steps of one product.
class ProductSteps {
public:
    ProductSteps(const Graph &graph, const GpuMachine &machine, const GpuProduct &product,
                 const GpuReader &reader)
        : graph(graph), machine(machine), product(product), of_reader(reader),
          update(graph.stages[size_t(product.update)]), reader(graph.stages[size_t(reader.stage)]),
          f(graph.functions[size_t(product.function)]) {}

    GpuStructure operator()() {
        const auto chosen = choose_product_tile(graph, machine, product);
        if (!chosen) return {};
        tile = *chosen;
        s.rule = "products in blocks: " + f.name;
        s.scheduled.insert(f.function->name);
        s.kernels.push_back(estimated());
        const LoopLevel block = share_reader();
        share_sums(block);
        return s;
    }

private:
    GpuKernel estimated() const {
        GpuKernel k;
        k.name = f.name;
        k.stage = product.update;
        k.blocks = tile.blocks;
        k.threads = int(tile.threads());
        k.held = tile.registers - 30;
        k.shared_bytes = tile.shared_bytes;
        // The cycles that the tile was chosen by count as instructions of the whole card.
        k.lane_operations =
            tile.cycles / machine.card.gigahertz * 1e-3 * machine.lanes_in_microsecond() * 0.6;
        return k;
    }

    // The loops of a thread's tile and of the threads, innermost first.
    struct Shared {
        std::vector<Symbol> vectors, points, groups, threads;
    };
    // The dimensions that a tile has several values of: columns, and one or two of rows.
    void share(LoopWriter &loops, const ProductAxis &axis, Symbol loop, Shared &to) const {
        const TailStrategy guard = TailStrategy::GuardWithIf;
        const bool is_column = &axis == &tile.axes[0];
        // One group is split off, too: so the number of threads is known where a tile is cut off.
        const auto [group, within] =
            loops.split(loop, axis.block / axis.groups, guard, "_group", "_of");
        to.groups.push_back(group);
        loop = within;
        if (axis.points > 1) {
            const auto [thread, point] = loops.split(loop, axis.points, guard, "_thread", "_point");
            (is_column ? to.vectors : to.points).push_back(point);
            loop = thread;
        }
        to.threads.push_back(loop);
    }
    static void set_kinds(LoopWriter &loops, const Shared &shared) {
        const auto set = [&](const std::vector<Symbol> &some, LoopKind kind) {
            for (Symbol loop : some) loops.set_kind(loop, kind);
        };
        set(shared.vectors, LoopKind::Vectorized);
        set(shared.points, LoopKind::Unrolled);
        set(shared.groups, LoopKind::Unrolled);
        set(shared.threads, LoopKind::GPUThread);
    }

    // Returns the condition that all tiles of an output can be whole; undefined if it is known, or
    // cannot be.
    Expr whole_if(const FunctionNode &of) const {
        if (!of.is_output || reader.number > 0 || of.function->output_buffers.empty()) return {};
        Expr all;
        for (const ProductAxis &axis : tile.axes) {
            const Expr extent = extent_of_output(*of.function, int(axis.dimension));
            const Expr is_whole = extent >= int32_t(axis.block);
            all = all.defined() ? all && is_whole : is_whole;
        }
        return all;
    }
    static Expr extent_of_output(const FunctionContents &of, int dimension) {
        const ParameterRef &p = of.output_buffers[0];
        return ir::BufferProperty::make(p->name, BufferField::Extent, dimension, p);
    }
    bool is_whole_for_certain(const FunctionNode &of) const {
        return std::ranges::all_of(tile.axes, [&](const ProductAxis &axis) {
            return of.is_constant[axis.dimension] &&
                   of.required[axis.dimension].extent() >= axis.block;
        });
    }

    LoopLevel share_reader() {
        const FunctionNode &of = graph.functions[size_t(reader.function)];
        place_reader(graph, of_reader, s);
        const bool is_pure = reader.number == 0;
        if (is_pure && is_whole_for_certain(of))
            return share_reader(TailStrategy::ShiftInwards, {});
        const Expr condition = is_pure ? whole_if(of) : Expr();
        if (condition.defined()) share_reader(TailStrategy::ShiftInwards, condition);
        return share_reader(TailStrategy::GuardWithIf, {});
    }
    LoopLevel share_reader(TailStrategy tail, const Expr &condition) {
        const FunctionNode &of = graph.functions[size_t(reader.function)];
        LoopWriter loops(*of.function, reader.number, s.steps);
        if (condition.defined()) loops.begin_specialization(condition);
        std::vector<Symbol> blocks;
        Shared shared;
        std::vector<Symbol> within(tile.axes.size());
        for (size_t v = 0; v < reader.pure; v++) {
            Symbol loop = reader.variables.name(v);
            const auto axis =
                std::ranges::find(tile.axes, reader.dimensions[v], &ProductAxis::dimension);
            if (axis != tile.axes.end()) {
                const auto [block, in] = loops.split(loop, axis->block, tail, "_block", "_in");
                within[size_t(axis - tile.axes.begin())] = in;
                loop = block;
            }
            blocks.push_back(loop);
        }
        for (size_t a = 0; a < tile.axes.size(); a++) share(loops, tile.axes[a], within[a], shared);
        loops.fuse_to_grid(blocks);
        std::vector<Symbol> order;
        for (const auto *some : {&shared.vectors, &shared.points, &shared.groups, &shared.threads})
            order.insert(order.end(), some->begin(), some->end());
        std::vector<Symbol> sums = sums_of(reader);
        for (const auto *some : {&sums, &blocks})
            order.insert(order.end(), some->begin(), some->end());
        loops.reorder(order);
        set_kinds(loops, shared);
        for (Symbol b : blocks) loops.set_kind(b, LoopKind::GPUBlock);
        return loops.at(sums.empty() ? blocks.front() : sums.front());
    }
    void share_sums(const LoopLevel &block) {
        const Symbol name = f.function->name;
        add_directive(s.steps, name, ComputeLevel{block});
        add_directive(s.steps, name, StoreIn{MemoryType::Register});
        LoopWriter init(*f.function, 0, s.steps);
        share_tile(init, graph.stages[size_t(f.stages[0])]);
        LoopWriter loops(*f.function, 1, s.steps);
        Shared shared;
        std::vector<Symbol> others;
        share_axes(loops, update, shared, others);
        const TailStrategy guard = TailStrategy::GuardWithIf;
        const auto [step, within] =
            loops.split(update.variables.name(product.depth), tile.step, guard, "_step", "_in");
        Symbol quads = within;
        std::vector<Symbol> order = shared.vectors, unrolled;
        const auto append = [&](const std::vector<Symbol> &some) {
            order.insert(order.end(), some.begin(), some.end());
        };
        // Groups of columns stand within those of rows.
        const std::vector<Symbol> of_rows(shared.groups.begin() + 1, shared.groups.end());
        append({shared.groups.front()});
        append(shared.points);
        if (tile.step > tile.unrolled) {
            const auto [outer, inner] =
                loops.split(within, tile.unrolled, guard, "_quads", "_quad");
            quads = outer;
            unrolled.push_back(inner);
        } else {
            unrolled.push_back(within);
        }
        std::vector<Symbol> serial;
        for (size_t v : product.taps) {
            const bool is_unrolled = tile.unrolled_tap && *tile.unrolled_tap == v;
            (is_unrolled ? unrolled : serial).push_back(update.variables.name(v));
        }
        append(unrolled);
        append(of_rows);
        const bool has_quads = quads != within;
        if (has_quads) append({quads});
        append(serial);
        append(shared.threads);
        append(others);
        append({step});
        for (size_t v : product.outer) append({update.variables.name(v)});
        loops.reorder(order);
        set_kinds(loops, shared);
        for (Symbol u : unrolled) loops.set_kind(u, LoopKind::Unrolled);
        for (const GpuOperand &operand : product.operands) {
            const Symbol staged =
                stage_operand(graph, product, operand, loops.at(step), tile.stages, s);
            if (tile.stages == 1) copy_by_threads(operand, staged);
            if (!has_quads || operand.is_of_columns || operand.along_depth != size_t(0)) continue;
            hold_window(operand, staged, loops.at(of_rows.front()));
        }
    }
    void share_axes(LoopWriter &loops, const StageNode &stage, Shared &shared,
                    std::vector<Symbol> &others) const {
        std::vector<Symbol> of_axes(tile.axes.size());
        for (size_t v = 0; v < stage.pure; v++) {
            const auto axis =
                std::ranges::find(tile.axes, stage.dimensions[v], &ProductAxis::dimension);
            if (axis == tile.axes.end())
                others.push_back(stage.variables.name(v));
            else
                of_axes[size_t(axis - tile.axes.begin())] = stage.variables.name(v);
        }
        for (size_t a = 0; a < tile.axes.size(); a++)
            share(loops, tile.axes[a], of_axes[a], shared);
    }
    void share_tile(LoopWriter &loops, const StageNode &stage) const {
        Shared shared;
        std::vector<Symbol> others, order;
        share_axes(loops, stage, shared, others);
        for (const auto *some :
             {&shared.vectors, &shared.points, &shared.groups, &shared.threads, &others})
            order.insert(order.end(), some->begin(), some->end());
        loops.reorder(order);
        set_kinds(loops, shared);
    }

    // Neighbouring threads copy neighbours.
    void copy_by_threads(const GpuOperand &operand, Symbol made) {
        const std::vector<Symbol> args = args_of_copy(graph, operand);
        std::set<std::string> taken;
        for (Symbol a : args) taken.insert(a.text());
        LoopWriter loops(made, 0, s.steps, taken);
        Symbol element = args[0];
        for (size_t d = 1; d < args.size(); d++) element = loops.fuse(element, args[d]);
        std::vector<Symbol> threads;
        for (const ProductAxis &axis : tile.axes) {
            const auto [outer, thread] =
                loops.split(element, axis.threads(), TailStrategy::GuardWithIf, "_turn", "_thread");
            threads.push_back(thread);
            element = outer;
        }
        std::vector<Symbol> order = threads;
        order.insert(order.begin(), element);
        loops.reorder(order);
        for (Symbol t : threads) loops.set_kind(t, LoopKind::GPUThread);
    }
    // A thread loads four neighbours along the depth at once, for all of its rows.
    void hold_window(const GpuOperand &operand, Symbol staged, const LoopLevel &level) {
        const FunctionNode &reads =
            graph.functions[size_t(graph.stages[size_t(operand.readers.back())].function)];
        const Symbol made = Symbol::interned(staged.text() + "_window");
        s.steps.push_back({staged, WrapStep{{reads.function->name}, made, false, {}}});
        s.scheduled.insert(made);
        add_directive(s.steps, made, ComputeLevel{level});
        const std::vector<Symbol> args = args_of_copy(graph, operand);
        LoopWriter loops(made, 0, s.steps, {});
        loops.set_kind(args[0], LoopKind::Vectorized);
        for (size_t d = 1; d < args.size(); d++) {
            if (operand.is_along_rows[d]) loops.set_kind(args[d], LoopKind::Unrolled);
        }
    }

    const Graph &graph;
    const GpuMachine &machine;
    const GpuProduct &product;
    const GpuReader &of_reader;
    const StageNode &update, &reader;
    const FunctionNode &f;
    ProductTile tile;
    GpuStructure s;
};

}  // namespace

GpuStructure readers_of_products(const Graph &graph, const GpuMachine &machine) {
    GpuStructure all;
    for (size_t n = 0; n < graph.functions.size(); n++) {
        const auto product = product_of(graph, int(n));
        if (!product) continue;
        if (!is_for_tensor_cores(graph, machine, *product) &&
            !choose_product_tile(graph, machine, *product))
            continue;
        if (reader_of_values(graph, int(n))) continue;
        const FunctionNode &f = graph.functions[n];
        if (f.is_output) {
            all.append(as_parts(graph, *product));
            continue;
        }
        GpuStructure s;
        s.rule = "products: " + f.name;
        const Symbol made = name_made_of(graph, f, "_stored");
        s.steps.push_back({f.function->name, WrapStep{{}, made, false, {}}});
        all.append(std::move(s));
    }
    return all;
}

GpuStructure products_in_blocks(const Graph &graph, const GpuMachine &machine) {
    GpuStructure all;
    for (size_t n = 0; n < graph.functions.size(); n++) {
        const auto product = product_of(graph, int(n));
        const auto reader = product ? reader_of_values(graph, int(n)) : std::nullopt;
        if (!reader) continue;
        const StageNode &stage = graph.stages[size_t(reader->stage)];
        // Another product may be read by the same stage: then it stays in the loops of the first.
        const Symbol name = graph.functions[size_t(stage.function)].function->name;
        if (all.scheduled.contains(name)) continue;
        all.append(ProductSteps(graph, machine, *product, *reader)());
    }
    return all;
}

}  // namespace tessera::autoscheduler
