#include "lower/gpu/tensor_tiles.h"
#include "algebra/simplify.h"
#include "ir/equal.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "lower/gpu/kernel_loops.h"
#include "lower/gpu/tensor_operands.h"
#include "lower/gpu/tile_layout.h"
#include "lower/loops/let_scope.h"
#include "lower/loops/likely.h"
#include "lower/loops/loop_name.h"
#include <algorithm>

namespace tessera::lower {

using namespace ir;
using algebra::simplify;

namespace {

bool is_over_warps(const For &loop) {
    return tensor_instruction_of_threads(loop.loop_kind) != nullptr;
}

// What a nest over warps does with a Tile.
struct TileNest {
    const TensorInstructionInfo *instruction = nullptr;
    std::vector<const For *> warps;  // outermost first
    const For *rows = nullptr, *columns = nullptr, *sum = nullptr;
    const Provide *stage = nullptr;
    std::vector<Expr> element;   // coordinates of the Tile in terms of the loops
    bool is_tensorized = false;  // by an instruction
    bool is_store = false;       // of what is computed of the Tile

    std::unordered_map<const For *, int64_t> counts;  // iterations; 0: nobody knows

    int64_t count(const For *loop) const { return counts.at(loop); }
};

[[noreturn]] void refuse(const Realize &tile, const For &nest, const std::string &why) {
    throw CompileError(nest.origin.kind_written, str("the ", loop_name(nest), ", which works on ",
                                                     tile.func, " in MemoryType::Tile: ", why));
}

// Finds the parts of a nest, and checks its form.
class ReadNest final : public Visitor {
public:
    ReadNest(const Realize &tile, const For &outermost, const LetScope &around)
        : tile(tile), outermost(outermost), scope(around) {
        (*this)(Stmt(&outermost));
        if (!nest.stage) refuse("it has to be around one stage, in which there is one definition");
        find_element();
        find_loops();
        check_sizes();
    }
    TileNest nest;

private:
    void visit(const For &loop) override {
        const auto count = as_const_int(simplify(remove_likely(scope.expand(loop.extent))));
        nest.counts[&loop] = std::max<int64_t>(0, count.value_or(0));
        if (is_over_warps(loop)) {
            nest.warps.push_back(&loop);
            nest.instruction = tensor_instruction_of_threads(loop.loop_kind);
        } else {
            loops.push_back(&loop);
        }
        Visitor::visit(loop);
    }
    void visit(const LetStmt &let) override {
        scope.push_let(let.name, let.value);
        (*this)(let.body);
    }
    void visit(const IfThenElse &branch) override {
        has_condition = true;
        Visitor::visit(branch);
    }
    void visit(const Provide &p) override {
        if (nest.stage) refuse("it has to be around one stage, in which there is one definition");
        nest.stage = &p;
        has_condition |= p.predicate.defined();
    }
    void find_element() {
        nest.is_store = nest.stage->func != tile.func;
        if (!nest.is_store) return see(nest.stage->args);
        for_each_node(Stmt(nest.stage), [&](const Call &c) {
            if (c.callee == tile.func) see(c.args);
        });
    }
    void see(const std::vector<Expr> &args) {
        std::vector<Expr> expanded;
        for (const Expr &arg : args) expanded.push_back(simplify(scope.expand(arg)));
        if (nest.element.empty()) nest.element = expanded;
        for (size_t d = 0; d < expanded.size(); d++) {
            if (!equal(expanded[d], nest.element[d]))
                refuse(str("it uses two elements of it at a time, at ", nest.element[d], " and ",
                           expanded[d]));
        }
    }
    void find_loops() {
        std::erase_if(loops, [&](const For *l) { return nest.count(l) == 1; });
        for (const For *loop : loops) {
            const auto x = step_of(nest.element[0], *loop), y = step_of(nest.element[1], *loop);
            const For *&place = x == 1 && y == 0   ? nest.columns
                                : x == 0 && y == 1 ? nest.rows
                                                   : nest.sum;
            const bool fits = (x == 0 && (y == 0 || y == 1)) || (x == 1 && y == 0);
            if (!fits || place)
                refuse(str("one loop runs over neighbouring columns of it, one over rows, and one "
                           "over what is summed at most; the ",
                           loop_name(*loop), " is none of these"));
            place = loop;
        }
        if (!nest.columns || !nest.rows) refuse("it has no loop over columns or none over rows");
        const LoopKind kind = nest.columns->loop_kind;
        nest.is_tensorized = tensor_instruction(kind) != nullptr;
        for (const For *loop : loops) {
            const bool same = tensor_instruction(loop->loop_kind) == tensor_instruction(kind);
            if (!same) refuse("either all loops within it are tensorized, or none");
        }
        if (nest.is_tensorized && (!nest.sum || has_condition))
            refuse("what is tensorized has a loop over what is summed, and no conditions, such as "
                   "those of a split that does not divide the sum");
        if (nest.is_tensorized && tensor_instruction(kind) != nest.instruction)
            refuse(str("instructions ", tensor_instruction(kind)->name,
                       " are run by the iterations of ",
                       traits_of(tensor_instruction(kind)->threads).directive));
    }
    void check_sizes() const {
        for (const For *loop : nest.warps) {
            if (nest.count(loop) == 0)
                refuse(str("how many iterations the ", loop_name(*loop),
                           " has is not known; it is ", simplify(loop->extent)));
        }
        const TensorInstructionInfo &i = *nest.instruction;
        const int64_t rows = nest.count(nest.rows), columns = nest.count(nest.columns);
        if (rows <= 0 || rows % i.rows != 0)
            refuse(str("the number of rows of each iteration has to be a multiple of ", i.rows,
                       " that is known; it is ", simplify(nest.rows->extent)));
        if (columns <= 0 || columns % i.columns_step != 0 || columns > i.most_columns)
            refuse(str("the number of columns has to be a multiple of ", i.columns_step,
                       " that is known, up to ", i.most_columns, "; it is ",
                       simplify(scope.expand(nest.columns->extent))));
    }
    [[noreturn]] void refuse(const std::string &why) const { lower::refuse(tile, outermost, why); }

    const Realize &tile;
    const For &outermost;
    std::vector<const For *> loops;  // but those over warps
    bool has_condition = false;
    LetScope scope;
};

// Of which element of a Tile an iteration of the loops over warps has the first one: in terms of
// these loops, numbered from the outside.
std::vector<Expr> first_element(const TileNest &nest, const Realize &tile, const LetScope &lets) {
    static const Symbol numbered[] = {Symbol::interned("warp.0"), Symbol::interned("warp.1"),
                                      Symbol::interned("warp.2")};
    Substitution values{{nest.rows->name, nest.rows->min}, {nest.columns->name, nest.columns->min}};
    for (size_t w = 0; w < nest.warps.size(); w++) {
        const For &loop = *nest.warps[w];
        values[loop.name] = int32_variable(numbered[std::min<size_t>(w, 2)]) + loop.min;
    }
    std::vector<Expr> first;
    for (size_t d = 0; d < nest.element.size(); d++)
        first.push_back(simplify(
            remove_likely(lets.expand(substitute(values, nest.element[d]) - tile.bounds[d].min))));
    return first;
}

// Rewrites one nest.
class ShareNest final : public Mutator {
public:
    ShareNest(const TileNest &nest, const Realize &tile, const Realizations &storage,
              const LetScope &lets)
        : nest(nest), tile(tile), storage(storage), lets(lets), lane(Symbol::fresh("lane")) {}

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
        std::vector<Expr> operands =
            tensor_operands({*nest.instruction, *nest.stage, *nest.rows, *nest.columns, *nest.sum,
                             int32_t(nest.count(nest.rows)), int32_t(nest.count(nest.columns)),
                             int32_t(nest.count(nest.sum)), int32_variable(lane), storage, lets},
                            body);
        const auto op =
            nest.instruction->loops == LoopKind::MMA ? MachineOpKind::mma : MachineOpKind::wgmma;
        return MachineOp::make(op, std::move(operands), Mutator::operator()(body));
    }
    LoopKind element_loops() const {
        return nest.is_tensorized ? LoopKind::Serial : LoopKind::Unrolled;
    }
    Stmt over(Symbol name, int64_t extent, const Stmt &body) const {
        return For::make(name, 0, int32_t(extent), element_loops(), Partition::Never, body);
    }
    Stmt over_rows(const For &loop) {
        const Stmt body = Mutator::operator()(loop.body);
        const Expr row = int32_variable(tile_row) * nest.instruction->rows +
                         first_row(int32_variable(lane)) + int32_variable(half) * 8 + loop.min;
        const Stmt one = over(half, 2, LetStmt::make(loop.name, row, body));
        return over(tile_row, nest.count(&loop) / nest.instruction->rows, one);
    }
    Stmt over_columns(const For &loop) {
        const Stmt body = Mutator::operator()(loop.body);
        const Expr column = int32_variable(block) * 8 + first_column(int32_variable(lane)) +
                            int32_variable(pair) + loop.min;
        const int64_t blocks = nest.count(&loop) / 8;
        const Stmt one = over(pair, 2, LetStmt::make(loop.name, column, body));
        if (!stores_quads(loop)) return over(block, blocks, one);
        const Symbol quad = Symbol::fresh("quad"), of_quad = Symbol::fresh("block");
        const Expr number = int32_variable(quad) * 4 + int32_variable(of_quad);
        const Stmt four = over(of_quad, 4, LetStmt::make(block, number, one));
        return over(quad, blocks / 4,
                    MachineOp::make(MachineOpKind::store_quads, {int32_variable(lane)}, four));
    }
    // Columns of the Tile are dense in what is stored, 16 bytes for four threads that each have two
    // of eight.
    bool stores_quads(const For &columns) const {
        const bool fits =
            nest.is_store && nest.count(&columns) % 32 == 0 && nest.stage->values.size() == 1 &&
            nest.stage->values[0].type().bits() == 16 && !nest.stage->predicate.defined();
        bool is_innermost = true;
        for_each_node(columns.body, [&](const For &) { is_innermost = false; });
        for_each_node(columns.body, [&](const IfThenElse &) { is_innermost = false; });
        return fits && is_innermost;
    }

    Expr accumulator() const {
        const int64_t of_rows = nest.count(nest.columns) / 2;
        return int32_variable(tile_row) * int32_t(of_rows) + int32_variable(block) * 4 +
               int32_variable(half) * 2 + int32_variable(pair);
    }
    Expr visit(const Call &c) override {
        Expr e = Mutator::visit(c);
        if (c.callee != tile.func) return e;
        return e.as<Call>()->with<&Call::args>({accumulator()});
    }
    Stmt visit(const Provide &p) override {
        Stmt s = Mutator::visit(p);
        if (p.func != tile.func) return s;
        return s.as<Provide>()->with<&Provide::args>({accumulator()});
    }

    const TileNest &nest;
    const Realize &tile;
    const Realizations &storage;
    const LetScope &lets;
    const Symbol lane, tile_row = Symbol::fresh("tile_row"), half = Symbol::fresh("half"),
                       block = Symbol::fresh("block"), pair = Symbol::fresh("pair");
};

// Rewrites all nests that work on one Tile.
class ShareTile final : public Mutator {
public:
    ShareTile(const Realize &tile, const LetScope &around, Realizations storage)
        : tile(tile), lets(around), storage(std::move(storage)) {}

    Stmt shared() {
        if (tile.types.size() != 1 || tile.bounds.size() != 2 || tile.types[0] != Float(32)) {
            throw CompileError(tile.storage.compute_written,
                               str("store_in of ", tile.func,
                                   ": MemoryType::Tile holds one float32 value of two dimensions"));
        }
        const Stmt body = Mutator::operator()(tile.body);
        if (!first.instruction) {
            throw CompileError(tile.storage.compute_written,
                               str("store_in of ", tile.func,
                                   ": MemoryType::Tile is for what is "
                                   "computed within gpu_warps or gpu_warpgroups"));
        }
        const int64_t elements = first.count(first.rows) * first.count(first.columns);
        return tile.with<&Realize::bounds, &Realize::body, &Realize::storage>(
            {{0, int32_t(elements / first.instruction->lanes)}}, body, own_storage());
    }

private:
    StorageFacts own_storage() const {
        StorageFacts facts = tile.storage;
        facts.order.clear();
        facts.folds.clear();
        return facts;
    }
    bool uses_tile(const Stmt &s) const {
        bool any = false;
        for_each_node(s, [&](const Call &c) { any |= c.callee == tile.func; });
        for_each_node(s, [&](const Provide &p) { any |= p.func == tile.func; });
        return any;
    }
    Stmt visit(const For &loop) override {
        if (!uses_tile(Stmt(&loop))) return Stmt(&loop);
        if (!is_over_warps(loop)) return Mutator::visit(loop);
        ReadNest read(tile, loop, lets);
        check_alike(read.nest, loop);
        return ShareNest(read.nest, tile, storage, lets)(loop);
    }
    Stmt visit(const LetStmt &let) override {
        lets.push_let(let.name, let.value);
        const Stmt s = Mutator::visit(let);
        lets.pop_let(let.name);
        return s;
    }
    Stmt visit(const Provide &p) override {
        if (!uses_tile(Stmt(&p))) return Stmt(&p);
        throw CompileError(tile.storage.compute_written,
                           str("store_in of ", tile.func,
                               ": what is in MemoryType::Tile is computed and used within loops of "
                               "gpu_warps or gpu_warpgroups; here it is outside of any"));
    }
    void check_alike(const TileNest &nest, const For &loop) {
        const std::vector<Expr> element = first_element(nest, tile, lets);
        if (!first.instruction) {
            first = nest;
            first_elements = element;
            return;
        }
        bool alike = nest.instruction == first.instruction &&
                     nest.warps.size() == first.warps.size() &&
                     nest.count(nest.rows) == first.count(first.rows) &&
                     nest.count(nest.columns) == first.count(first.columns);
        for (size_t w = 0; alike && w < nest.warps.size(); w++)
            alike = nest.count(nest.warps[w]) == first.count(first.warps[w]);
        for (size_t d = 0; alike && d < element.size(); d++)
            alike = equal(element[d], first_elements[d]);
        if (alike) return;

        const auto text = [](const TileNest &n, const std::vector<Expr> &e) {
            return str(n.count(n.columns), " columns and ", n.count(n.rows), " rows from (", e[0],
                       ", ", e[1], ") on");
        };
        refuse(tile, loop,
               str("each iteration has to work on the elements that the same iteration of the ",
                   loop_name(*first.warps[0]), " has in its registers: that has ",
                   text(first, first_elements), ", and this ", text(nest, element)));
    }

    Stmt visit(const Realize &r) override {
        storage[r.func] = &r;
        return Mutator::visit(r);
    }

    const Realize &tile;
    LetScope lets;
    Realizations storage;  // around
    TileNest first;
    std::vector<Expr> first_elements;
};

class ShareTiles final : public Mutator {
    Stmt visit(const Realize &r) override {
        storage[r.func] = &r;
        if (r.memory != MemoryType::Tile) return Mutator::visit(r);
        const Stmt shared = ShareTile(r, lets, storage).shared();
        const auto &tile = *shared.as<Realize>();
        return tile.with<&Realize::body>((*this)(tile.body));
    }
    Stmt visit(const LetStmt &let) override {
        lets.push_let(let.name, let.value);
        const Stmt s = Mutator::visit(let);
        lets.pop_let(let.name);
        return s;
    }
    // Others are loops over threads, the lanes of which are within.
    Stmt visit(const For &loop) override {
        Stmt s = Mutator::visit(loop);
        if (tensor_instruction(loop.loop_kind)) {
            throw CompileError(loop.origin.kind_written,
                               str("tensorize: the ", loop_name(loop),
                                   " is in no nest that computes a Func in MemoryType::Tile"));
        }
        if (!is_over_warps(loop)) return s;
        return s.as<For>()->with<&For::loop_kind>(LoopKind::GPUThread);
    }
    LetScope lets;
    Realizations storage;  // around
};

}  // namespace

Stmt share_tiles(const Stmt &s, const lower::Context &) {
    bool any = false;
    for_each_node(s, [&](const For &loop) {
        any |= is_over_warps(loop) || tensor_instruction(loop.loop_kind);
    });
    for_each_node(s, [&](const Realize &r) { any |= r.memory == MemoryType::Tile; });
    return any ? ShareTiles()(s) : s;
}

}  // namespace tessera::lower
