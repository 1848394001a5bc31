#include "lower/gpu/tile_nest.h"
#include "algebra/simplify.h"
#include "ir/equal.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/visitor.h"
#include "lower/gpu/kernel_loops.h"
#include "lower/loops/accumulate.h"
#include "lower/loops/likely.h"
#include "lower/loops/loop_name.h"
#include <algorithm>
#include <array>
#include <ranges>
#include <set>

namespace tessera::lower {

using namespace ir;
using algebra::simplify;

namespace {

int64_t threads_of(LoopKind kind) {
    return kind == LoopKind::GPUWarp ? 32 : kind == LoopKind::GPUWarpgroup ? 128 : 0;
}

// ---- The dimensions of a Tile ----

// Finds the first stage that instructions compute in a Tile, and which loops it has.
class FindTensorized final : public Visitor {
public:
    FindTensorized(const Realize &tile, const LetScope &around) : tile(tile), scope(around) {
        (*this)(tile.body);
    }
    std::string instruction;
    std::set<size_t> columns, rows;  // dimensions

private:
    void visit(const For &loop) override {
        loops.push_back(&loop);
        Visitor::visit(loop);
        loops.pop_back();
    }
    void visit(const LetStmt &let) override {
        scope.push_let(let.name, let.value);
        (*this)(let.body);
        scope.pop_let(let.name);
    }
    void visit(const Provide &p) override {
        const auto tensorized = std::ranges::find(loops, LoopKind::Tensorized, &For::loop_kind);
        if (p.func != tile.func || tensorized == loops.end() || !instruction.empty()) return;
        instruction = (*tensorized)->origin.instruction.text();
        find_dimensions(p);
    }
    void visit(const Call &c) override {
        Visitor::visit(c);
        if (c.callee == tile.func) return;
        std::vector<const For *> here;
        for (const For *loop : loops) {
            const bool is_moved = std::ranges::any_of(c.args, [&](const Expr &arg) {
                return uses_symbol(scope.expand(arg), loop->name);
            });
            if (is_moved) here.push_back(loop);
        }
        uses.push_back(here);
    }
    // The dimensions that the loops around a stage run along: columns with the innermost one.
    void find_dimensions(const Provide &p) {
        (*this)(scope.expand(p.values[0]));
        std::vector<const For *> own = loops;
        std::erase_if(own, [](const For *l) { return traits_of(l->loop_kind).is_on_threads; });
        std::vector<std::set<const For *>> moved(p.args.size());
        std::set<const For *> any;
        for (size_t d = 0; d < p.args.size(); d++) {
            for (const For *loop : own) {
                if (uses_symbol(scope.expand(p.args[d]), loop->name)) {
                    moved[d].insert(loop);
                    any.insert(loop);
                }
            }
        }
        const auto first = std::ranges::find_if(moved, [](const auto &of) { return !of.empty(); });
        if (first == moved.end()) return;
        std::set<const For *> of_columns = *first;
        for (const auto &here : uses) {
            const bool is_with =
                std::ranges::any_of(here, [&](const For *loop) { return first->contains(loop); });
            for (const For *loop : here) {
                if (is_with && any.contains(loop)) of_columns.insert(loop);
            }
        }
        for (size_t d = 0; d < moved.size(); d++) {
            for (const For *loop : moved[d]) (of_columns.contains(loop) ? columns : rows).insert(d);
        }
    }

    const Realize &tile;
    LetScope scope;
    std::vector<const For *> loops;              // around
    std::vector<std::vector<const For *>> uses;  // of each call in the stage
};

}  // namespace

Tile read_tile(const Realize &storage, const LetScope &around) {
    const FindTensorized tensorized(storage, around);
    Tile tile{.storage = &storage, .instruction = tensorized.instruction};
    tile.columns.assign(tensorized.columns.begin(), tensorized.columns.end());
    tile.rows.assign(tensorized.rows.begin(), tensorized.rows.end());
    const bool is_found = !tile.columns.empty() && !tile.rows.empty();
    std::vector<size_t> dimensions;
    for (size_t d = 0; d < storage.bounds.size(); d++) {
        const Expr extent = simplify(remove_likely(around.expand(storage.bounds[d].extent)));
        if (is_const(extent, 1)) continue;
        const auto fold = std::ranges::find(storage.storage.folds, int(d), &StorageFold::dim);
        const bool is_folded = fold != storage.storage.folds.end() && fold->is_done;
        if (is_folded && !tile.slots)
            tile.slots = d;
        else
            dimensions.push_back(d);
    }
    const bool fits =
        is_found ? !tile.slots : dimensions.size() == 1 || (dimensions.size() == 2 && !tile.slots);
    if (storage.types.size() != 1 || !fits) {
        throw CompileError(
            storage.storage.compute_written,
            str("store_in of ", storage.func,
                ": MemoryType::Tile holds one value of two dimensions, columns and rows, or those "
                "that the loops of a tensorized stage run along, or one of rows alone; in others "
                "that it has there is one element"));
    }
    if (is_found) return tile;
    tile.rows = {dimensions.back()};
    if (dimensions.size() == 2) tile.columns = {dimensions[0]};
    return tile;
}

std::vector<Instruction> instructions_for(const Target &target, std::string_view name,
                                          int64_t columns) {
    std::vector<Instruction> all = instructions_named(name, columns);
    std::erase_if(all, [](const Instruction &i) { return i.is_of_cpu(); });
    std::ranges::stable_partition(all, [&](const Instruction &i) { return i.is_on(target); });
    return all;
}

// ---- Loops over an index ----

bool IndexLoops::contains(const For &loop) const {
    return std::ranges::find(all, &loop, &Digit::loop) != all.end();
}

int64_t IndexLoops::extent() const {
    int64_t product = 1;
    for (const Digit &d : all) product *= d.iterations;
    return product;
}

std::vector<IndexLoops::Digit> IndexLoops::digits() const {
    std::vector<Digit> digits = all;
    int64_t stride = 1;
    for (Digit &d : std::views::reverse(digits)) {
        d.stride = stride;
        stride *= d.iterations;
    }
    return digits;
}

void IndexLoops::put_values(const Expr &index, Substitution &to) const {
    bool is_first = true;
    for (const Digit &d : digits()) {
        Expr digit = d.stride == 1 ? index : index / int32_t(d.stride);
        if (!std::exchange(is_first, false)) digit = digit % int32_t(d.iterations);
        to[d.loop->name] = digit + d.loop->min;
    }
}

Layout TileNest::registers() const {
    const std::array<int64_t, 2> extents = {rows.extent(), columns.empty() ? instruction.extent("j")
                                                                           : columns.extent()};
    return tiled(instruction.operand("D").layout, extents, "register");
}

Layout TileNest::registers_of(const Tile &tile) const {
    return tile.is_of_rows() ? layout_of_rows(registers()) : registers();
}

Layout layout_of_rows(Layout layout) {
    const auto is_no_row = [&](const LayoutDigit &d) {
        return layout.coordinates[d.coordinate].name != "i";
    };
    for (LayoutOutput &output : layout.outputs) {
        std::erase_if(output.digits, is_no_row);
        std::ranges::sort(output.digits, {}, &LayoutDigit::divisor);
        int64_t stride = 1;
        for (LayoutDigit &d : output.digits) {
            d.coordinate = 0;
            if (output.name == "register") d.stride = std::exchange(stride, stride * d.extent);
        }
    }
    std::erase_if(layout.coordinates, [](const LayoutCoordinate &c) { return c.name != "i"; });
    return layout;
}

namespace {

// ---- Nests ----

class ReadNest final : public Visitor {
public:
    ReadNest(const Tiles &tiles, const For &outermost, const LetScope &around, const Target &target)
        : tiles(tiles), outermost(outermost), scope(around), target(target) {
        (*this)(Stmt(&outermost));
        if (!nest.stage) refuse("it has to be around one stage, in which there is one definition");
        nest.is_store = !tiles.contains(nest.stage->func);
        find_name();
        find_loops();
        check_order();
        find_instruction();
        if (nest.is_store) check_races();
        if (!nest.is_store && !nest.columns.empty()) find_reduction();
    }
    TileNest nest;

private:
    void visit(const For &loop) override {
        const auto count = as_const_int(simplify(remove_likely(scope.expand(loop.extent))));
        nest.counts[&loop] = std::max<int64_t>(0, count.value_or(0));
        // The index of one iteration is its first value, as in other stages on the same elements.
        if (count == 1 && !is_over_warps(loop)) scope.push_let(loop.name, loop.min);
        (is_over_warps(loop) ? nest.warps : loops).push_back(&loop);
        scope.push_loop(loop.name, simplify(scope.expand(loop.min)),
                        simplify(remove_likely(scope.expand(loop.extent))));
        Visitor::visit(loop);
    }
    void visit(const LetStmt &let) override {
        (*this)(let.value);
        scope.push_let(let.name, let.value);
        (*this)(let.body);
    }
    void visit(const IfThenElse &branch) override {
        const Expr known = simplify(remove_likely(scope.expand(branch.condition)), scope.known());
        if (is_one(known)) return Visitor::visit(branch);
        add_condition(branch.condition);
        Visitor::visit(branch);
    }
    void visit(const Atomic &atomic) override {
        is_atomic = true;
        Visitor::visit(atomic);
    }
    void visit(const Provide &p) override {
        if (nest.stage) refuse("it has to be around one stage, in which there is one definition");
        nest.stage = &p;
        if (p.predicate.defined()) add_condition(p.predicate);
        see(p.func, p.args);
        Visitor::visit(p);
    }
    void visit(const Call &c) override {
        see(c.callee, c.args);
        Visitor::visit(c);
    }
    void add_condition(const Expr &e) {
        if (const auto *both = e.as<And>()) {
            add_condition(both->a);
            add_condition(both->b);
        } else {
            nest.conditions.push_back(remove_likely(e));
        }
    }
    void see(Symbol func, const std::vector<Expr> &args) {
        const auto tile = tiles.find(func);
        if (tile == tiles.end()) return;
        std::vector<Expr> at;
        for (const Expr &arg : args) at.push_back(simplify(scope.expand(arg)));
        const auto found =
            std::ranges::find(nest.elements, tile->second.storage, &TileNest::Element::tile);
        if (found == nest.elements.end()) {
            nest.elements.push_back({tile->second.storage, at});
            return;
        }
        for (size_t d = 0; d < at.size(); d++) {
            if (d != tile->second.slots && !equal(at[d], found->at[d]))
                refuse(str("it uses two elements of ", func, " at a time, at ", found->at[d],
                           " and ", at[d]));
        }
    }

    // An instruction is named by the loops that it runs.
    void find_name() {
        for (const For *loop : loops) {
            if (loop->loop_kind != LoopKind::Tensorized) continue;
            const std::string &name = loop->origin.instruction.text();
            if (nest.is_tensorized() && nest.tensorized != name)
                refuse(str("its loops are tensorized by ", nest.tensorized, " and by ", name));
            nest.tensorized = name;
        }
        std::erase_if(loops, [&](const For *l) { return nest.count(l) == 1; });
        // The Tile that is written counts where instructions compute it; others are operands.
        if (nest.is_tensorized() && !nest.is_store)
            std::erase_if(nest.elements, [&](const TileNest::Element &e) {
                return e.tile->func != nest.stage->func;
            });
    }
    const Tile &tile_of(const TileNest::Element &element) const {
        return tiles.at(element.tile->func);
    }
    // Returns an element whose Tile has columns, or one of rows if there is none.
    const TileNest::Element &main_element() const {
        const auto found = std::ranges::find_if(
            nest.elements, [&](const auto &element) { return !tile_of(element).is_of_rows(); });
        return found == nest.elements.end() ? nest.elements[0] : *found;
    }
    // Returns the index that a loop runs over, by the dimensions of a Tile along which it moves:
    // the columns, the rows or the sum. It is null if these are several.
    IndexLoops *place_of(const For &loop, const TileNest::Element &element) {
        const Tile &tile = tile_of(element);
        const auto moves = [&](size_t d) { return uses_symbol(element.at[d], loop.name); };
        const bool along_columns = std::ranges::any_of(tile.columns, moves),
                   along_rows = std::ranges::any_of(tile.rows, moves);
        if (along_columns && along_rows) return nullptr;
        return along_columns ? &nest.columns : along_rows ? &nest.rows : &nest.sum;
    }
    void find_loops() {
        const TileNest::Element &main = main_element();
        for (const For *loop : loops) {
            IndexLoops *place = place_of(*loop, main);
            for (const TileNest::Element &other : nest.elements) {
                // A Tile of rows has one value for all columns.
                const IndexLoops *wanted =
                    tile_of(other).is_of_rows() && place == &nest.columns ? &nest.sum : place;
                if (place_of(*loop, other) != wanted)
                    refuse(str("it reads ", main.tile->func, " and ", other.tile->func,
                               ", and the ", loop_name(*loop),
                               " does not run over the same of both: columns, rows, or neither"));
            }
            if (!place)
                refuse(
                    str("a loop runs over columns of it, over rows, or over what is summed; the ",
                        loop_name(*loop), " runs over columns and rows"));
            const bool is_kept = place == &nest.sum &&
                                 (!nest.is_tensorized() || loop->loop_kind != LoopKind::Tensorized);
            if (!is_kept) place->add(*loop, nest.count(loop));
        }
        if (nest.rows.empty() || (nest.columns.empty() && !tile_of(main).is_of_rows()))
            refuse("it has no loop over columns or none over rows");
        check_known();
    }
    void check_known() const {
        for (const For *loop : nest.warps) {
            if (nest.count(loop) == 0)
                refuse(str("how many iterations the ", loop_name(*loop),
                           " has is not known; it is ", simplify(loop->extent),
                           ". bound_extent() of ", nest.stage->func,
                           " can promise how much a block computes of it"));
        }
    }
    // All that an instruction does is inside of what is not its own.
    void check_order() const {
        if (!nest.is_tensorized()) return;
        bool is_inside = false;
        for (const For *loop : loops) {
            const bool is_own = nest.rows.contains(*loop) || nest.columns.contains(*loop) ||
                                nest.sum.contains(*loop);
            if (is_inside && !is_own)
                refuse(str("either all loops within it are tensorized, or none but those around "
                           "what is; the ",
                           loop_name(*loop), " is not, and is within"));
            is_inside |= is_own;
        }
        if (nest.sum.empty()) refuse("what is tensorized has a loop over what is summed");
    }
    // The columns of a row are reduced to its value in a Tile of rows.
    void find_reduction() {
        const auto written = tiles.find(nest.stage->func);
        if (written == tiles.end() || !written->second.is_of_rows()) return;
        for (const For *warp : nest.warps) {
            if (!warp->origin.is_reduction || nest.count(warp) == 1) continue;
            refuse(str("the columns of a row are reduced within one warp, or warpgroup; the ",
                       loop_name(*warp),
                       " has them in several: a warp has all columns of its "
                       "rows, and warps share out the rows"));
        }
        nest.of_row = as_accumulation(*nest.stage);
        if (!nest.of_row)
            refuse(str("the columns of a row are reduced to one value of ", nest.stage->func,
                       " by an update that is a sum, a product, a minimum or a maximum; it is ",
                       brief(nest.stage->values[0])));
    }
    void find_instruction() {
        // The values of rows lie in the same threads for any number of columns.
        constexpr int64_t fewest_columns = 8;
        const int64_t rows = nest.rows.extent(),
                      columns = nest.columns.empty() ? fewest_columns : nest.columns.extent();
        const Tile &tile = tile_of(main_element());
        const std::string name = nest.is_tensorized()       ? nest.tensorized
                                 : tile.instruction.empty() ? "any"
                                                            : tile.instruction;
        const LoopKind threads = nest.warps[0]->loop_kind;
        const std::vector<Instruction> named = instructions_for(target, name, columns);
        const Type type = tile.storage->types[0];
        bool is_known = !named.empty(), is_of_threads = false, rows_fit = false;
        int64_t rows_wanted = 0;
        for (const Instruction &i : named) {
            if (i.threads != threads_of(threads)) continue;
            is_of_threads = true;
            if (i.operands[0].name.text() != "D") continue;
            // All elements of a row are in threads that have its value.
            if (!tile.is_of_rows() && i.operands[0].type != type) continue;
            if (rows <= 0 || rows % i.extent("i") != 0) {
                if (rows_wanted == 0) rows_wanted = i.extent("i");
                continue;
            }
            rows_fit = true;
            if (!tile.is_of_rows() && (columns <= 0 || columns % i.extent("j") != 0)) continue;
            nest.instruction = i;
            return;
        }
        if (rows_wanted > 0 && !rows_fit)
            refuse(str("the number of rows of each iteration has to be a multiple of ", rows_wanted,
                       " that is known; it is ", extent_of(nest.rows)));
        if (is_of_threads || (threads == LoopKind::GPUWarpgroup && name == "wgmma"))
            refuse(
                str("the number of columns has to be a multiple of 8 that is known, up to 256 of "
                    "wgmma, and its type that of the instruction's sums; it is ",
                    extent_of(nest.columns), " of ", type));
        if (!is_known) refuse_name(name);
        const LoopKind wanted =
            named[0].threads == 128 ? LoopKind::GPUWarpgroup : LoopKind::GPUWarp;
        refuse(str("instructions ", name, " are run by the iterations of ",
                   named[0].threads == 1 ? "gpu_threads" : traits_of(wanted).directive));
    }
    std::string extent_of(const IndexLoops &of) const {
        std::string text;
        for (const IndexLoops::Digit &d : of.digits())
            text += str(text.empty() ? "" : " times ", simplify(scope.expand(d.loop->extent)));
        return text;
    }
    [[noreturn]] void refuse_name(const std::string &name) const {
        std::string all;
        for (const std::string &known : instruction_names())
            all += str(all.empty() ? "" : ", ", known);
        refuse(str("there is no instruction ", name, "; the families are ", all));
    }

    // Threads share out the iterations of these loops, whatever the schedule says of them.
    void check_races() const {
        for (const IndexLoops *index : {&nest.columns, &nest.rows}) {
            for (const IndexLoops::Digit &d : index->digits()) check_races(*d.loop);
        }
    }
    void check_races(const For &loop) const {
        if (!loop.origin.is_reduction || is_free_of_races(loop)) return;
        if (is_atomic && as_accumulation(*nest.stage)) return;
        refuse(str("its threads share out the ", loop_name(loop), ", so that several of them may ",
                   "update one element of ", nest.stage->func, " at once; ",
                   is_atomic
                       ? "atomic() is for one sum, product, minimum or maximum there; reduce what "
                         "is stored elsewhere first, such as h(x, y) = f(x, y)"
                       : "call atomic() before if the update is a sum, a product, a minimum or a "
                         "maximum, or store what is in the Tile elsewhere first, such as h(x, y) = "
                         "f(x, y), and reduce that"));
    }
    // Returns true if some coordinate of what is stored depends on this loop and on no other within
    // the warps, and the update reads the Func at that coordinate only.
    bool is_free_of_races(const For &loop) const {
        const auto is_apart = [&](size_t d) {
            for (const For *other : loops) {
                const auto step = step_of(simplify(scope.expand(nest.stage->args[d])), *other);
                if (!step || (*step != 0) != (other == &loop)) return false;
            }
            bool same = true;
            for_each_node(Stmt(&outermost), [&](const Call &c) {
                same &= c.callee != nest.stage->func ||
                        equal(scope.expand(c.args[d]), scope.expand(nest.stage->args[d]));
            });
            return same;
        };
        for (size_t d = 0; d < nest.stage->args.size(); d++) {
            if (is_apart(d)) return true;
        }
        return false;
    }
    [[noreturn]] void refuse(const std::string &why) const {
        const Realize *tile =
            nest.elements.empty() ? tiles.begin()->second.storage : nest.elements[0].tile;
        refuse_nest(*tile, outermost, why);
    }

    const Tiles &tiles;
    const For &outermost;
    std::vector<const For *> loops;  // but those over warps
    bool is_atomic = false;
    LetScope scope;
    const Target &target;
};

}  // namespace

bool is_over_warps(const For &loop) { return threads_of(loop.loop_kind) != 0; }

void refuse_nest(const Realize &tile, const For &nest, const std::string &why) {
    throw CompileError(nest.origin.kind_written, str("the ", loop_name(nest), ", which works on ",
                                                     tile.func, " in MemoryType::Tile: ", why));
}

TileNest read_tile_nest(const Tiles &tiles, const For &outermost, const LetScope &around,
                        const Target &target) {
    return ReadNest(tiles, outermost, around, target).nest;
}

}  // namespace tessera::lower
