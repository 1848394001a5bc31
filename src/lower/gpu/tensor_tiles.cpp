#include "lower/gpu/tensor_tiles.h"
#include "algebra/simplify.h"
#include "ir/equal.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "lower/gpu/kernel_loops.h"
#include "lower/gpu/pipeline_copies.h"
#include "lower/gpu/tile_fragments.h"
#include "lower/loops/let_scope.h"
#include "lower/loops/likely.h"
#include "lower/loops/loop_name.h"
#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <optional>
#include <ranges>
#include <unordered_set>
#include <utility>

namespace tessera::lower {

using namespace ir;
using algebra::simplify;

namespace {

// Returns the coordinates of the element of a Tile that an iteration of the loops over warps has at
// a row and a column.
std::vector<Expr> element_of(const TileNest &nest, const Realize &tile, const std::vector<Expr> &at,
                             const LetScope &lets) {
    Substitution values;
    nest.rows.put_values(int32_variable(row_index()), values);
    nest.columns.put_values(int32_variable(column_index()), values);
    const algebra::Facts known = known_of_indices(nest);
    for (size_t w = 0; w < nest.warps.size(); w++) {
        const For &loop = *nest.warps[w];
        values[loop.name] = int32_variable(numbered_warp(w)) + loop.min;
    }
    std::vector<Expr> element;
    for (size_t d = 0; d < at.size(); d++) {
        const bool is_only =
            is_const(simplify(remove_likely(lets.expand(tile.bounds[d].extent))), 1);
        element.push_back(is_only ? Expr(0)
                                  : simplify(remove_likely(lets.expand(substitute(values, at[d]) -
                                                                       tile.bounds[d].min)),
                                             known));
    }
    return element;
}

// Returns true if coordinates are the same for each row and column, whether one loop runs over them
// or several.
bool are_same(const Expr &a, const Expr &b, const TileNest &nest) {
    if (equal(a, b)) return true;
    const auto at = [](const Expr &e, Symbol index, int64_t i) {
        return simplify(substitute(index, int32_t(i), e));
    };
    for (int64_t r = 0; r < nest.rows.extent(); r++) {
        const Expr of_a = at(a, row_index(), r), of_b = at(b, row_index(), r);
        if (equal(of_a, of_b)) continue;
        for (int64_t c = 0; c < nest.columns.extent(); c++)
            if (!equal(at(of_a, column_index(), c), at(of_b, column_index(), c))) return false;
    }
    return true;
}

// Rewrites one nest.
class ShareNest final : public Mutator {
public:
    ShareNest(const TileNest &nest, const Tiles &tiles, const SharedTiles &shares,
              const Realizations &storage, const LetScope &lets, const Target &target,
              const IsZeroUnless &is_zero_unless)
        : nest(nest), tiles(tiles), shares(shares), storage(storage), lets(lets), target(target),
          is_zero_unless(is_zero_unless), lane(Symbol::fresh("lane")),
          elements(inverse(nest.registers())), rows("i", "row", elements, int32_variable(lane)),
          columns("j", "column", elements, int32_variable(lane)) {}

    Stmt operator()(const For &outermost) { return visit(outermost); }

private:
    bool is_own(const For &loop) const {
        return nest.rows.contains(loop) || nest.columns.contains(loop) || nest.sum.contains(loop);
    }
    Stmt visit(const For &loop) override {
        if (&loop == nest.warps.back()) return over_warps(loop, over_lanes(loop.body));
        if (is_over_warps(loop)) return over_warps(loop, Mutator::operator()(loop.body));
        if (nest.is_tensorized() && !is_within && is_own(loop)) return tensorized(loop);
        if (nest.rows.contains(loop)) return over_rows(loop);
        if (nest.columns.contains(loop)) return over_columns(loop);
        return serial(loop, Mutator::operator()(loop.body));
    }
    // The loops around or within what is tensorized have no parts for what is likely.
    Stmt serial(const For &loop, const Stmt &body) const {
        if (!nest.is_tensorized()) return loop.with<&For::body>(body);
        const LoopKind kind =
            loop.loop_kind == LoopKind::Tensorized ? LoopKind::Serial : LoopKind(loop.loop_kind);
        return loop.with<&For::loop_kind, &For::partition, &For::body>(kind, Partition::Never,
                                                                       body);
    }
    Stmt over_warps(const For &loop, const Stmt &body) const {
        return loop.with<&For::extent, &For::loop_kind, &For::body>(int32_t(nest.count(&loop)),
                                                                    LoopKind::GPUThread, body);
    }
    Stmt over_lanes(const Stmt &body) {
        Stmt shared = Mutator::operator()(body);
        if (nest.of_row) shared = reduced(shared);
        // All threads of a row have its value, and one of them stores it.
        if (nest.is_store && nest.columns.empty())
            shared = IfThenElse::make(columns.of_thread == 0, shared);
        return For::make(lane, 0, nest.instruction.threads, LoopKind::GPUThread, Partition::Never,
                         shared);
    }

    // ---- Reductions of rows ----

    // Threads begin with the value that they have so far, if that changes nothing when it is taken
    // several times, and else with one that changes nothing.
    bool begins_anew() const {
        const ReduceOp op = nest.of_row->op;
        return op == ReduceOp::Add || op == ReduceOp::Mul || op == ReduceOp::SaturatingAdd;
    }
    // Each thread reduces its own elements, and all threads of a row do the rest together.
    Stmt reduced(const Stmt &own_elements) const {
        const Type type = nest.stage->values[0].type();
        const Expr row = row_of_thread(rows),
                   of_row = Call::make(type, part, CallKind::Func, 0, {row});
        const Expr all = begins_anew() ? of_row : row_of_stage();
        std::vector<std::pair<Symbol, Expr>> lets;
        const auto named = [&](const Expr &value) {
            lets.emplace_back(Symbol::fresh("part"), value);
            return Variable::make(type, lets.back().first);
        };
        Expr together = named(all);
        for (const int32_t distance : distances_in_row()) {
            const Expr with =
                call(Int(32), Intrinsic::bitwise_xor, {int32_variable(lane) % 32, distance});
            const Expr other = named(call(type, Intrinsic::shuffle_lanes, {together, with, 32}));
            // Else one of the two threads might round its part, and the other one not.
            together = named(as_strict_float(combine(nest.of_row->op, together, other)));
        }
        if (begins_anew()) together = combine(nest.of_row->op, row_of_stage(), together);
        Stmt s = store_of_row(nest.stage->func, together, row_of_stage().as<Call>()->args[0]);
        for (const auto &[name, value] : std::views::reverse(lets))
            s = LetStmt::make(name, value, s);
        s = Block::make(own_elements, over_own_rows(s));
        if (!begins_anew()) return s;
        const Stmt begin =
            over_own_rows(store_of_row(part, identity_of(nest.of_row->op, type), row));
        int64_t count = 1;
        for (const DigitLoop &l : rows.loops) count *= l.extent;
        return Realize::make(part, {type}, MemoryType::Register, {{0, int32_t(count)}}, {},
                             Block::make(begin, s));
    }
    static Stmt store_of_row(Symbol func, const Expr &value, const Expr &at) {
        return Provide::make(func, {value}, {at});
    }
    Stmt over_own_rows(Stmt s) const {
        Substitution fresh;
        for (const DigitLoop &l : std::views::reverse(rows.loops)) {
            const Symbol name = Symbol::fresh(l.name.text());
            s = For::make(name, 0, int32_t(l.extent), LoopKind::Unrolled, Partition::Never,
                          substitute(l.name, int32_variable(name), s));
        }
        return s;
    }
    // The element of the stage's Tile for a row of this thread.
    Expr row_of_stage() const {
        const auto is_of = [&](const TileNest::Element &e) {
            return e.tile->func == nest.stage->func;
        };
        const TileNest::Element &element = *std::ranges::find_if(nest.elements, is_of);
        return Call::make(nest.stage->values[0].type(), nest.stage->func, CallKind::Func, 0,
                          {register_of_row(element.at, tiles.at(nest.stage->func), rows)});
    }
    // By which bits the numbers of the threads differ that have elements of a row.
    std::vector<int32_t> distances_in_row() const {
        std::vector<int32_t> all;
        for (const LayoutDigit &d : elements.output("j")->digits) {
            if (elements.coordinates[d.coordinate].name != "thread") continue;
            if (d.divisor * d.extent > 32 || !std::has_single_bit(uint64_t(d.extent)))
                throw InternalError(str("the row of a Tile in threads of the layout ", elements));
            for (int64_t bit = d.extent / 2; bit > 0; bit /= 2)
                all.push_back(int32_t(bit * d.divisor));
        }
        return all;
    }

    // Loops and lets around those that an instruction does stay around the operation.
    Stmt tensorized(const For &loop) {
        TensorizedStage stage{nest, int32_variable(lane), storage, lets, target, is_zero_unless};
        TensorProduct product = tensor_product(stage);
        const std::optional<LayoutOutput> order = order_of(product);
        if (order) {
            stage.is_in_registers = true;
            product = tensor_product(stage);
        }
        TensorOperation &t = product.operation;
        is_within = true;
        conditions = product.conditions;
        const Stmt body = visit(loop);
        is_within = false;
        std::optional<FillFragment> a, b;
        const bool fills_a = product.a.value.defined(), fills_b = product.b.value.defined();
        if (fills_a) t.a.places = {a.emplace(stage, t, "A", tiles, shares, order).place()};
        if (fills_b) t.b.places = {b.emplace(stage, t, "B", tiles, shares, order).place()};
        t.a.is_of_tile = fills_a && reads_tile(product.a.value);
        t.b.is_of_tile = fills_b && reads_tile(product.b.value);
        Stmt s = MachineOp::make(MachineOpKind::tensor, t.operands(), body);
        if (b) s = b->around(product.b, s);
        return a ? a->around(product.a, s) : s;
    }
    // Returns the order of the sum in which an operand of a Tile is where the instruction wants it.
    std::optional<LayoutOutput> order_of(const TensorProduct &product) const {
        std::optional<LayoutOutput> order;
        const TensorOperation &t = product.operation;
        const auto find = [&](const Expr &value, std::string_view name) {
            if (!value.defined() || t.a.source == TensorOperation::Source::Panels ||
                t.b.source == TensorOperation::Source::Panels)
                return;
            for_each_node(value, [&](const Call &c) {
                const auto tile = shares.find(c.callee);
                if (order || !tiles.contains(c.callee) || tile == shares.end()) return;
                order = order_of_sum(tile_as_operand(tile->second.nest.registers(), name),
                                     t.registers_of(name));
            });
        };
        find(product.a.value, "A");
        find(product.b.value, "B");
        return order;
    }
    bool reads_tile(const Expr &value) const {
        bool any = false;
        for_each_node(value, [&](const Call &c) { any |= tiles.contains(c.callee); });
        return any;
    }
    LoopKind element_loops() const {
        return nest.is_tensorized() ? LoopKind::Serial : LoopKind::Unrolled;
    }
    Stmt over(Symbol name, int64_t extent, const Stmt &body) const {
        return For::make(name, 0, int32_t(extent), element_loops(), Partition::Never, body);
    }
    // The loops over one index become lets: the outermost one has the loops over its digits.
    Stmt with_values(const IndexLoops &index, const Expr &element, const For &loop) {
        Substitution values;
        if (index.digits().size() == 1) {
            index.put_values(element, values);
            return LetStmt::make(loop.name, values.at(loop.name), Mutator::operator()(loop.body));
        }
        const bool is_row = &index == &nest.rows;
        Symbol &name = is_row ? row : column;
        if (&loop == &index.outermost()) name = Symbol::fresh(is_row ? "row" : "column");
        index.put_values(int32_variable(name), values);
        const Stmt s =
            LetStmt::make(loop.name, values.at(loop.name), Mutator::operator()(loop.body));
        return &loop == &index.outermost() ? LetStmt::make(name, element, s) : s;
    }
    Stmt over_rows(const For &loop) {
        Stmt s = with_values(nest.rows, rows.element(), loop);
        if (&loop != &nest.rows.outermost()) return s;
        for (const DigitLoop &l : std::views::reverse(rows.loops)) s = over(l.name, l.extent, s);
        return s;
    }
    Stmt over_columns(const For &loop) {
        Stmt s = with_values(nest.columns, columns.element(), loop);
        if (&loop != &nest.columns.outermost()) return s;
        if (!stores_quads(loop)) {
            for (const DigitLoop &l : std::views::reverse(columns.loops))
                s = over(l.name, l.extent, s);
            return s;
        }
        const DigitLoop &block = columns.loops[0], &pair = columns.loops[1];
        const Symbol quad = Symbol::fresh("quad"), of_quad = Symbol::fresh("block");
        const auto blocks = int32_t(stored_columns() / block.of_element);
        const Expr number = int32_variable(quad) * blocks + int32_variable(of_quad);
        const Stmt all = over(of_quad, blocks,
                              LetStmt::make(block.name, number, over(pair.name, pair.extent, s)));
        return over(quad, block.extent / blocks,
                    MachineOp::make(MachineOpKind::store_quads, {int32_variable(lane)}, all));
    }
    // Returns how many columns four threads store together, 16 bytes each.
    int64_t stored_columns() const {
        return int64_t(4) * 16 / nest.stage->values[0].type().bytes();
    }
    // Returns true if columns of the Tile are dense in what is stored, and four threads each have
    // two of eight.
    bool stores_quads(const For &columns) const {
        const bool is_in_pairs = this->columns.loops.size() == 2 &&
                                 this->columns.loops[1].extent == 2 &&
                                 this->columns.loops[0].of_element == 8;
        if (!is_in_pairs || !nest.is_store || nest.stage->values.size() != 1) return false;
        const int bits = nest.stage->values[0].type().bits();
        const bool fits = (bits == 8 || bits == 16 || bits == 32) &&
                          nest.columns.extent() % stored_columns() == 0 &&
                          nest.columns.digits().size() == 1 && !nest.stage->predicate.defined();
        bool is_innermost = true;
        for_each_node(columns.body, [&](const For &) { is_innermost = false; });
        for_each_node(columns.body, [&](const IfThenElse &) { is_innermost = false; });
        return fits && is_innermost;
    }

    // The condition of what is tensorized is that of its operands, and within of the loops.
    Stmt visit(const IfThenElse &branch) override {
        return nest.is_tensorized() ? Mutator::operator()(branch.then_case)
                                    : Mutator::visit(branch);
    }
    Expr visit(const Call &c) override {
        Expr e = Mutator::visit(c);
        // In what is tensorized other Tiles are operands, which the loops read as they were.
        if (is_within && tiles.contains(c.callee) && !is_shared_here(c.callee))
            return e.as<Call>()->with<&Call::args>({0});
        if (!is_shared_here(c.callee)) return e;
        return e.as<Call>()->with<&Call::args>({register_at(c.callee, e.as<Call>()->args)});
    }
    Stmt visit(const Provide &p) override {
        if (nest.of_row && begins_anew()) {
            const Expr row = row_of_thread(rows), value = Mutator::operator()(nest.of_row->operand),
                       so_far = Call::make(value.type(), part, CallKind::Func, 0, {row});
            return Provide::make(part, {combine(nest.of_row->op, so_far, value)}, {row});
        }
        Stmt s = Mutator::visit(p);
        if (!is_shared_here(p.func)) return s;
        s = s.as<Provide>()->with<&Provide::args>({register_at(p.func, s.as<Provide>()->args)});
        if (!is_within) return s;
        for (const Expr &condition : std::views::reverse(conditions))
            s = IfThenElse::make(Mutator::operator()(condition), s);
        return s;
    }
    Expr register_at(Symbol func, const std::vector<Expr> &at) const {
        const Tile &tile = tiles.at(func);
        return tile.is_of_rows() ? register_of_row(at, tile, rows) : register_of(rows, columns);
    }
    bool is_shared_here(Symbol func) const {
        const auto is_of = [&](const TileNest::Element &e) { return e.tile->func == func; };
        return std::ranges::any_of(nest.elements, is_of);
    }

    const TileNest &nest;
    const Tiles &tiles;
    const SharedTiles &shares;
    const Realizations &storage;
    const LetScope &lets;
    const Target &target;
    const IsZeroUnless &is_zero_unless;
    const Symbol lane;
    const Layout elements;  // of registers
    const Digits rows, columns;
    Symbol row, column;      // the index of a row, or of a column, that several loops run over
    bool is_within = false;  // the loops that an instruction does
    std::vector<Expr> conditions;                      // of what they do
    const Symbol part = Symbol::fresh("part_of_row");  // what a thread reduces of its elements
};

class ShareTiles final : public Mutator {
public:
    explicit ShareTiles(const Target &target) : target(target) {}

private:
    Stmt visit(const Realize &r) override {
        storage[r.func] = &r;
        if (r.memory == MemoryType::Tile) return shared(r);
        const Stmt s = Mutator::visit(r);
        return of_fragments.contains(r.func) && !is_ring(r) ? aligned(*s.as<Realize>()) : s;
    }
    // Makes each row begin at a multiple of 16 bytes, because fragments are loaded by as many.
    static Stmt aligned(const Realize &operand) {
        const int32_t elements = 16 / operand.types[0].bytes();
        StorageFacts facts = operand.storage;
        if (facts.order.empty()) facts.order.push_back({0, {}, {}, {}, {}});
        Expr &alignment = facts.order[0].alignment;
        const auto wanted = as_const_int(alignment.defined() ? simplify(alignment) : Expr(1));
        alignment = wanted ? Expr(std::lcm(int32_t(*wanted), elements)) : alignment * elements;
        return operand.with<&Realize::storage>(facts);
    }
    void note_fragments(const Stmt &nest) {
        for_each_node(nest, [&](const MachineOp &op) {
            if (!is_tensor_operation(op.op)) return;
            const auto t = TensorOperation::of(op);
            for (const TensorOperation::Operand *operand : {&t.a, &t.b}) {
                if (operand->source != TensorOperation::Source::Rows) continue;
                for (const Expr &place : operand->places)
                    for_each_node(place, [&](const Call &c) { of_fragments.insert(c.callee); });
            }
        });
    }
    Stmt shared(const Realize &tile) {
        tiles[tile.func] = read_tile(tile, lets);
        const Stmt body = (*this)(tile.body);
        tiles.erase(tile.func);
        const auto found = shares.find(tile.func);
        if (found == shares.end()) {
            throw CompileError(tile.storage.compute_written,
                               str("store_in of ", tile.func,
                                   ": MemoryType::Tile is for what is "
                                   "computed within gpu_warps or gpu_warpgroups"));
        }
        const Tile described = read_tile(tile, lets);
        int64_t registers = found->second.nest.registers_of(described).output("register")->extent();
        if (described.slots) registers *= slots_of(tile, *described.slots);
        shares.erase(found);
        StorageFacts facts = tile.storage;
        facts.order.clear();
        facts.folds.clear();
        return tile.with<&Realize::bounds, &Realize::body, &Realize::storage>(
            {{0, int32_t(registers)}}, body, facts);
    }
    int64_t slots_of(const Realize &tile, size_t d) const {
        const auto known = as_const_int(simplify(lets.expand(tile.bounds[d].extent)));
        if (!known)
            throw InternalError(
                str("folded storage of ", tile.func, " in a Tile of an extent that is not known"));
        return *known;
    }
    Stmt visit(const LetStmt &let) override {
        const Expr value = (*this)(let.value);
        const Stmt body = lets.within(let, [&] { return (*this)(let.body); });
        return let.with<&LetStmt::value, &LetStmt::body>(value, body);
    }
    // Loops over warps that use no Tile become loops over threads; their lanes are loops within.
    Stmt visit(const For &loop) override {
        if (is_over_warps(loop) && uses_tile(Stmt(&loop))) {
            const IsZeroUnless is_zero = [&](const Expr &condition, const Call &element) {
                return is_zero_unless(condition, element);
            };
            const TileNest nest = read_tile_nest(tiles, loop, lets, target);
            for (const TileNest::Element &element : nest.elements) check_alike(nest, element, loop);
            const Stmt s = ShareNest(nest, tiles, shares, storage, lets, target, is_zero)(loop);
            note_fragments(s);
            return s;
        }
        Stmt s = within(loop);
        if (loop.loop_kind == LoopKind::Tensorized) {
            throw CompileError(loop.origin.kind_written,
                               str("tensorize: the ", loop_name(loop),
                                   " is in no nest that computes a Func in MemoryType::Tile"));
        }
        if (is_over_warps(loop)) return s.as<For>()->with<&For::loop_kind>(LoopKind::GPUThread);
        return has_instructions(s) ? s.as<For>()->with<&For::partition>(Partition::Never) : s;
    }
    // All threads of an instruction run the same iterations of a loop around it, which therefore
    // has no parts for what is likely in the elements of some of them.
    static bool has_instructions(const Stmt &loop) {
        bool any = false;
        for_each_node(loop, [&](const MachineOp &op) { any |= is_tensor_operation(op.op); });
        return any && traits_of(loop.as<For>()->loop_kind).gpu == GPULevel::None;
    }
    // A ring buffer holds zeros beyond what is computed of it.
    bool is_zero_unless(const Expr &condition, const Call &element) const {
        const auto production = productions.find(element.callee);
        if (production == productions.end()) return false;
        const StagedCopy copy(*storage.at(element.callee), Stmt(production->second), storage);
        return copy.is_zero_unless(condition, element.args, lets);
    }
    Stmt visit(const ProducerConsumer &p) override {
        const auto ring = storage.find(p.func);
        if (p.is_producer && ring != storage.end() && is_ring(*ring->second))
            productions[p.func] = &p;
        return Mutator::visit(p);
    }
    // The variable of a loop with one iteration has a known value.
    Stmt within(const For &loop) {
        if (!is_const(simplify(lets.expand(loop.extent)), 1)) return Mutator::visit(loop);
        lets.push_let(loop.name, loop.min);
        Stmt s = Mutator::visit(loop);
        lets.pop_let(loop.name);
        return s;
    }
    bool uses_tile(const Stmt &s) const {
        bool any = false;
        for_each_node(s, [&](const Call &c) { any |= tiles.contains(c.callee); });
        for_each_node(s, [&](const Provide &p) { any |= tiles.contains(p.func); });
        return any;
    }
    Stmt visit(const Provide &p) override {
        refuse_outside(p.func, "where it is computed");
        const auto around = std::exchange(computed, p.func);
        const Stmt s = Mutator::visit(p);
        computed = around;
        return s;
    }
    Expr visit(const Call &c) override {
        refuse_outside(c.callee,
                       computed ? str("where ", *computed, " uses it") : "where it is used");
        return Mutator::visit(c);
    }
    void refuse_outside(Symbol func, const std::string &where) const {
        const auto tile = tiles.find(func);
        if (tile == tiles.end()) return;
        throw CompileError(tile->second.storage->storage.compute_written,
                           str("store_in of ", func,
                               ": what is in MemoryType::Tile is computed and used within loops of "
                               "gpu_warps or gpu_warpgroups; ",
                               where, ", it is outside of any"));
    }
    void check_alike(const TileNest &nest, const TileNest::Element &element, const For &loop) {
        const std::vector<Expr> here = element_of(nest, *element.tile, element.at, lets);
        const auto [place, is_new] = shares.try_emplace(element.tile->func, SharedTile{nest, here});
        if (is_new) return;
        const auto &[before, there] = place->second;
        const Tile &tile = tiles.at(element.tile->func);
        bool alike = nest.registers_of(tile) == before.registers_of(tile) &&
                     nest.warps.size() == before.warps.size();
        for (size_t w = 0; alike && w < nest.warps.size(); w++)
            alike = nest.count(nest.warps[w]) == before.count(before.warps[w]);
        for (size_t d = 0; alike && d < here.size(); d++)
            alike = d == tile.slots || are_same(here[d], there[d], nest);
        if (alike) return;

        const auto text = [](const TileNest &n, const std::vector<Expr> &e) {
            std::string all;
            const Substitution first{{row_index(), 0}, {column_index(), 0}};
            for (const Expr &coordinate : e)
                all += str(all.empty() ? "" : ", ", simplify(substitute(first, coordinate)));
            return str(n.columns.extent(), " columns and ", n.rows.extent(), " rows from (", all,
                       ") on");
        };
        refuse_nest(
            *element.tile, loop,
            str("each iteration has to work on the elements that the same iteration of the ",
                loop_name(*before.warps[0]), " has in its registers: that has ",
                text(before, there), ", and this ", text(nest, here)));
    }

    const Target &target;
    LetScope lets;
    std::optional<Symbol> computed;  // the func whose values are read
    Realizations storage;            // around
    Tiles tiles;                     // around
    std::unordered_map<Symbol, const ProducerConsumer *> productions;  // of ring buffers, so far
    SharedTiles shares;
    std::unordered_set<Symbol> of_fragments;  // what instructions mma read
};

}  // namespace

Stmt share_tiles(const Stmt &s, const lower::Context &context) {
    bool any = false;
    for_each_node(s, [&](const For &loop) {
        any |= is_over_warps(loop) || loop.loop_kind == LoopKind::Tensorized;
    });
    for_each_node(s, [&](const Realize &r) { any |= r.memory == MemoryType::Tile; });
    return any ? ShareTiles(context.target)(s) : s;
}

}  // namespace tessera::lower
