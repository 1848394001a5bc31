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
#include "lower/gpu/tensor_operands.h"
#include "lower/gpu/tile_nest.h"
#include "lower/loops/let_scope.h"
#include "lower/loops/likely.h"
#include "lower/loops/loop_name.h"
#include <algorithm>
#include <functional>
#include <numeric>
#include <ranges>
#include <unordered_set>

namespace tessera::lower {

using namespace ir;
using algebra::simplify;

namespace {

// Returns the column and the row of the first element of a Tile that an iteration of the loops over
// warps has, in terms of these loops, which are numbered from the outermost on.
std::vector<Expr> first_element(const TileNest &nest, const TileNest::Element &element,
                                const LetScope &lets) {
    static const Symbol numbered[] = {Symbol::interned("warp.0"), Symbol::interned("warp.1"),
                                      Symbol::interned("warp.2")};
    Substitution values{{nest.rows->name, nest.rows->min}, {nest.columns->name, nest.columns->min}};
    for (size_t w = 0; w < nest.warps.size(); w++) {
        const For &loop = *nest.warps[w];
        values[loop.name] = int32_variable(numbered[std::min<size_t>(w, 2)]) + loop.min;
    }
    const TileDimensions dimensions = tile_dimensions(*element.tile, lets);
    std::vector<Expr> first;
    for (size_t d : {dimensions.columns, dimensions.rows})
        first.push_back(simplify(remove_likely(
            lets.expand(substitute(values, element.at[d]) - element.tile->bounds[d].min))));
    return first;
}

// Rewrites one nest.
class ShareNest final : public Mutator {
public:
    ShareNest(const TileNest &nest, const Tiles &tiles, const Realizations &storage,
              const LetScope &lets)
        : nest(nest), tiles(tiles), storage(storage), lets(lets), lane(Symbol::fresh("lane")) {
        const Layout elements = inverse(
            accumulators(*nest.instruction, nest.count(nest.rows), nest.count(nest.columns)));
        rows = digits_of("i", "row", elements, int32_variable(lane));
        columns = digits_of("j", "column", elements, int32_variable(lane));
    }

    Stmt operator()(const For &outermost) { return visit(outermost); }

private:
    Stmt visit(const For &loop) override {
        if (&loop == nest.warps.back()) return over_warps(loop, over_lanes(loop.body));
        if (is_over_warps(loop)) return over_warps(loop, Mutator::operator()(loop.body));
        if (&loop == nest.rows) return over_rows(loop);
        if (&loop == nest.columns) return over_columns(loop);
        const Stmt body = Mutator::operator()(loop.body);
        if (!nest.is_tensorized) return loop.with<&For::body>(body);
        return loop.with<&For::loop_kind, &For::body>(LoopKind::Serial, body);
    }
    Stmt over_warps(const For &loop, const Stmt &body) const {
        return loop.with<&For::extent, &For::loop_kind, &For::body>(int32_t(nest.count(&loop)),
                                                                    LoopKind::GPUThread, body);
    }
    Stmt over_lanes(const Stmt &body) {
        const Stmt shared =
            nest.is_tensorized ? around_tensorized(body) : Mutator::operator()(body);
        return For::make(lane, 0, nest.instruction->lanes, LoopKind::GPUThread, Partition::Never,
                         shared);
    }
    // The lets around the loops stay around the operation.
    Stmt around_tensorized(const Stmt &body) {
        if (const auto *let = body.as<LetStmt>())
            return let->with<&LetStmt::body>(around_tensorized(let->body));
        const TensorOperation operation =
            tensor_operands({*nest.instruction, *nest.stage, *nest.rows, *nest.columns, *nest.sum,
                             int32_t(nest.count(nest.rows)), int32_t(nest.count(nest.columns)),
                             int32_t(nest.count(nest.sum)), int32_variable(lane), storage, lets},
                            body);
        return MachineOp::make(MachineOpKind::tensor, operation.operands(),
                               Mutator::operator()(body));
    }
    LoopKind element_loops() const {
        return nest.is_tensorized ? LoopKind::Serial : LoopKind::Unrolled;
    }
    Stmt over(Symbol name, int64_t extent, const Stmt &body) const {
        return For::make(name, 0, int32_t(extent), element_loops(), Partition::Never, body);
    }
    Stmt over_rows(const For &loop) {
        Stmt s = LetStmt::make(loop.name, element(rows) + loop.min, Mutator::operator()(loop.body));
        for (const DigitLoop &l : std::views::reverse(rows.loops)) s = over(l.name, l.extent, s);
        return s;
    }
    Stmt over_columns(const For &loop) {
        Stmt s =
            LetStmt::make(loop.name, element(columns) + loop.min, Mutator::operator()(loop.body));
        if (!stores_quads(loop)) {
            for (const DigitLoop &l : std::views::reverse(columns.loops))
                s = over(l.name, l.extent, s);
            return s;
        }
        const DigitLoop &block = columns.loops[0], &pair = columns.loops[1];
        const Symbol quad = Symbol::fresh("quad"), of_quad = Symbol::fresh("block");
        const Expr number = int32_variable(quad) * 4 + int32_variable(of_quad);
        const Stmt four =
            over(of_quad, 4, LetStmt::make(block.name, number, over(pair.name, pair.extent, s)));
        return over(quad, block.extent / 4,
                    MachineOp::make(MachineOpKind::store_quads, {int32_variable(lane)}, four));
    }
    // Columns of the Tile are dense in what is stored, 16 bytes for four threads that each have two
    // of eight.
    bool stores_quads(const For &columns) const {
        const bool is_in_pairs = this->columns.loops.size() == 2 &&
                                 this->columns.loops[1].extent == 2 &&
                                 this->columns.loops[0].of_element == 8;
        const bool fits = is_in_pairs && nest.is_store && nest.count(&columns) % 32 == 0 &&
                          nest.stage->values.size() == 1 &&
                          nest.stage->values[0].type().bits() == 16 &&
                          !nest.stage->predicate.defined();
        bool is_innermost = true;
        for_each_node(columns.body, [&](const For &) { is_innermost = false; });
        for_each_node(columns.body, [&](const IfThenElse &) { is_innermost = false; });
        return fits && is_innermost;
    }

    // Conditions of what is tensorized are those without which all that is added is zero.
    Stmt visit(const IfThenElse &branch) override {
        return nest.is_tensorized ? Mutator::operator()(branch.then_case) : Mutator::visit(branch);
    }

    // A loop over the values of a digit of the registers' number, which is a digit of a row or
    // column, too.
    struct DigitLoop {
        Symbol name;
        int64_t extent, of_register, of_element;  // the last two: its weights
    };
    // Rows or columns, as a sum of what the thread's number makes of them and these loops.
    struct Digits {
        Expr of_thread;
        std::vector<DigitLoop> loops;  // outermost first
    };
    static Digits digits_of(std::string_view coordinate, const char *name, const Layout &elements,
                            const Expr &lane) {
        LayoutOutput by_thread, by_register;
        for (const LayoutDigit &d : elements.output(coordinate)->digits) {
            const bool is_of_thread = elements.coordinates[d.coordinate].name == "thread";
            (is_of_thread ? by_thread : by_register).digits.push_back(d);
        }
        std::ranges::sort(by_register.digits, std::greater(), &LayoutDigit::stride);
        const Expr element[] = {lane, lane};  // only the digits of the thread are asked for
        Digits found{value_of(by_thread, elements.coordinates, element), {}};
        for (const LayoutDigit &d : by_register.digits) {
            const std::string text = d.stride == 1 ? name : str(name, "_by_", d.stride);
            found.loops.push_back({Symbol::fresh(text), d.extent, d.divisor, d.stride});
        }
        return found;
    }
    static Expr times(const Expr &e, int64_t weight) {
        return weight == 1 ? e : e * int32_t(weight);
    }
    static Expr element(const Digits &digits) {
        Expr sum = digits.of_thread;
        for (const DigitLoop &l : digits.loops)
            sum = sum + times(int32_variable(l.name), l.of_element);
        return sum;
    }
    Expr accumulator() const {
        std::vector<DigitLoop> all = rows.loops;
        all.insert(all.end(), columns.loops.begin(), columns.loops.end());
        std::ranges::sort(all, std::greater(), &DigitLoop::of_register);
        Expr sum;
        for (const DigitLoop &l : all) {
            const Expr digit = times(int32_variable(l.name), l.of_register);
            sum = sum.defined() ? sum + digit : digit;
        }
        return sum.defined() ? sum : Expr(0);
    }
    Expr visit(const Call &c) override {
        Expr e = Mutator::visit(c);
        if (!tiles.contains(c.callee)) return e;
        return e.as<Call>()->with<&Call::args>({accumulator()});
    }
    Stmt visit(const Provide &p) override {
        Stmt s = Mutator::visit(p);
        if (!tiles.contains(p.func)) return s;
        return s.as<Provide>()->with<&Provide::args>({accumulator()});
    }

    const TileNest &nest;
    const Tiles &tiles;
    const Realizations &storage;
    const LetScope &lets;
    const Symbol lane;
    Digits rows, columns;
};

class ShareTiles final : public Mutator {
    // Says how the first nest that works on a Tile has shared it out.
    struct Shared {
        TileNest nest;
        std::vector<Expr> first;  // column and row of each iteration of the loops over warps
    };

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
            if (!is_tensor_operation(op.op) || TensorOperation::of(op).is_wgmma) return;
            for (const Expr &operand : op.operands)
                for_each_node(operand, [&](const Call &c) { of_fragments.insert(c.callee); });
        });
    }
    Stmt shared(const Realize &tile) {
        tile_dimensions(tile, lets);
        tiles[tile.func] = &tile;
        const Stmt body = (*this)(tile.body);
        tiles.erase(tile.func);
        const auto found = shares.find(tile.func);
        if (found == shares.end()) {
            throw CompileError(tile.storage.compute_written,
                               str("store_in of ", tile.func,
                                   ": MemoryType::Tile is for what is "
                                   "computed within gpu_warps or gpu_warpgroups"));
        }
        const TileNest nest = std::move(found->second.nest);
        shares.erase(found);
        const int64_t elements = nest.count(nest.rows) * nest.count(nest.columns);
        StorageFacts facts = tile.storage;
        facts.order.clear();
        facts.folds.clear();
        return tile.with<&Realize::bounds, &Realize::body, &Realize::storage>(
            {{0, int32_t(elements / nest.instruction->lanes)}}, body, facts);
    }
    Stmt visit(const LetStmt &let) override {
        const Expr value = (*this)(let.value);
        const Stmt body = lets.within(let, [&] { return (*this)(let.body); });
        return let.with<&LetStmt::value, &LetStmt::body>(value, body);
    }
    // Loops over warps that use no Tile become loops over threads; their lanes are loops within.
    Stmt visit(const For &loop) override {
        if (is_over_warps(loop) && uses_tile(Stmt(&loop))) {
            const auto is_zero = [&](const Expr &condition, const Call &element) {
                return is_zero_unless(condition, element);
            };
            const TileNest nest = read_tile_nest(tiles, loop, lets, is_zero);
            for (const TileNest::Element &element : nest.elements) check_alike(nest, element, loop);
            const Stmt s = ShareNest(nest, tiles, storage, lets)(loop);
            note_fragments(s);
            return s;
        }
        Stmt s = within(loop);
        if (tensor_instruction(loop)) {
            throw CompileError(loop.origin.kind_written,
                               str("tensorize: the ", loop_name(loop),
                                   " is in no nest that computes a Func in MemoryType::Tile"));
        }
        if (!is_over_warps(loop)) return s;
        return s.as<For>()->with<&For::loop_kind>(LoopKind::GPUThread);
    }
    // What a ring buffer holds beyond what is computed of it is zero.
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
        refuse_outside(p.func);
        return Mutator::visit(p);
    }
    Expr visit(const Call &c) override {
        refuse_outside(c.callee);
        return Mutator::visit(c);
    }
    void refuse_outside(Symbol func) const {
        const auto tile = tiles.find(func);
        if (tile == tiles.end()) return;
        throw CompileError(tile->second->storage.compute_written,
                           str("store_in of ", func,
                               ": what is in MemoryType::Tile is computed and used within loops of "
                               "gpu_warps or gpu_warpgroups; here it is outside of any"));
    }
    void check_alike(const TileNest &nest, const TileNest::Element &element, const For &loop) {
        const std::vector<Expr> here = first_element(nest, element, lets);
        const auto [place, is_new] = shares.try_emplace(element.tile->func, Shared{nest, here});
        if (is_new) return;
        const auto &[before, there] = place->second;
        bool alike = nest.instruction == before.instruction &&
                     nest.warps.size() == before.warps.size() &&
                     nest.count(nest.rows) == before.count(before.rows) &&
                     nest.count(nest.columns) == before.count(before.columns);
        for (size_t w = 0; alike && w < nest.warps.size(); w++)
            alike = nest.count(nest.warps[w]) == before.count(before.warps[w]);
        for (size_t d = 0; alike && d < here.size(); d++) alike = equal(here[d], there[d]);
        if (alike) return;

        const auto text = [](const TileNest &n, const std::vector<Expr> &e) {
            return str(n.count(n.columns), " columns and ", n.count(n.rows), " rows from (", e[0],
                       ", ", e[1], ") on");
        };
        refuse_nest(
            *element.tile, loop,
            str("each iteration has to work on the elements that the same iteration of the ",
                loop_name(*before.warps[0]), " has in its registers: that has ",
                text(before, there), ", and this ", text(nest, here)));
    }

    LetScope lets;
    Realizations storage;                                              // around
    Tiles tiles;                                                       // around
    std::unordered_map<Symbol, const ProducerConsumer *> productions;  // of ring buffers, so far
    std::unordered_map<Symbol, Shared> shares;
    std::unordered_set<Symbol> of_fragments;  // what instructions mma read
};

}  // namespace

Stmt share_tiles(const Stmt &s, const lower::Context &) {
    bool any = false;
    for_each_node(s,
                  [&](const For &loop) { any |= is_over_warps(loop) || tensor_instruction(loop); });
    for_each_node(s, [&](const Realize &r) { any |= r.memory == MemoryType::Tile; });
    return any ? ShareTiles()(s) : s;
}

}  // namespace tessera::lower
