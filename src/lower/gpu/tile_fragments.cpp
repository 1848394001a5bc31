#include "lower/gpu/tile_fragments.h"
#include "algebra/simplify.h"
#include "ir/equal.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/substitute.h"
#include "lower/loops/let_scope.h"
#include "lower/loops/likely.h"
#include <algorithm>
#include <ranges>

namespace tessera::lower {

using namespace ir;
using algebra::simplify;

namespace {

const Symbol k_index = Symbol::interned("k.of.tile");

// Returns the digits along the sum that say which thread has an element, or which register, the
// lowest first; each has two values, or is one that cannot be halved.
std::vector<LayoutDigit> digits_of_sum(const Layout &layout, std::string_view output) {
    std::vector<LayoutDigit> all;
    for (LayoutDigit d : layout.output(output)->digits) {
        if (layout.coordinates[d.coordinate].name != "k") continue;
        for (; d.extent % 2 == 0; d.extent /= 2, d.divisor *= 2, d.stride *= 2)
            all.push_back({d.coordinate, d.divisor, 2, d.stride});
        if (d.extent > 1) all.push_back(d);
    }
    std::ranges::sort(all, {}, output == "thread" ? &LayoutDigit::stride : &LayoutDigit::divisor);
    return all;
}

// Returns the elements that are in the registers of threads, summed in another order.
Layout summed_in_order(const Layout &elements, const std::optional<LayoutOutput> &order) {
    if (!order) return elements;
    Layout ordered;
    for (const LayoutOutput &o : elements.outputs)
        ordered.coordinates.push_back({o.name, o.extent()});
    for (size_t c = 0; c < elements.outputs.size(); c++) {
        LayoutOutput of_sum = *order;
        for (LayoutDigit &d : of_sum.digits) d.coordinate = c;
        const LayoutCoordinate &own = ordered.coordinates[c];
        ordered.outputs.push_back(
            own.name == "k" ? of_sum : LayoutOutput{own.name, 0, {{c, 1, own.extent, 1}}});
    }
    return compose(ordered, elements);
}

}  // namespace

Symbol row_index() {
    static const Symbol name = Symbol::interned("row.of.tile");
    return name;
}

Symbol column_index() {
    static const Symbol name = Symbol::interned("column.of.tile");
    return name;
}

Symbol numbered_warp(size_t number) {
    static const Symbol names[] = {Symbol::interned("warp.0"), Symbol::interned("warp.1"),
                                   Symbol::interned("warp.2")};
    return names[std::min<size_t>(number, 2)];
}

algebra::Facts known_of_indices(const TileNest &nest) {
    algebra::Facts known;
    known.between(row_index(), 0, int32_t(nest.rows.extent() - 1));
    known.between(column_index(), 0, int32_t(nest.columns.extent() - 1));
    for (size_t w = 0; w < nest.warps.size(); w++)
        known.between(numbered_warp(w), 0, int32_t(nest.count(nest.warps[w]) - 1));
    return known;
}

Layout tile_as_operand(Layout tile, std::string_view name) {
    for (LayoutCoordinate &c : tile.coordinates)
        c.name = c.name == "i" ? (name == "A" ? "i" : "k") : (name == "A" ? "k" : "j");
    return tile;
}

std::optional<LayoutOutput> order_of_sum(const Layout &tile, const Layout &fragment) {
    LayoutOutput order{"k", 0, {}};
    bool is_same = true;
    for (const char *output : {"thread", "register"}) {
        const std::vector<LayoutDigit> own = digits_of_sum(fragment, output),
                                       of_tile = digits_of_sum(tile, output);
        if (own.size() != of_tile.size()) return std::nullopt;
        for (size_t i = 0; i < own.size(); i++) {
            const bool fits =
                own[i].extent == of_tile[i].extent &&
                (output != std::string_view("thread") || own[i].stride == of_tile[i].stride);
            if (!fits) return std::nullopt;
            is_same &= own[i].divisor == of_tile[i].divisor;
            order.digits.push_back(
                {own[i].coordinate, own[i].divisor, own[i].extent, of_tile[i].divisor});
        }
    }
    return is_same ? std::nullopt : std::optional(order);
}

FillFragment::FillFragment(const TensorizedStage &stage, const TensorOperation &t,
                           std::string_view name, const Tiles &tiles, const SharedTiles &shares,
                           const std::optional<LayoutOutput> &order)
    : stage(stage), name(name), tiles(tiles), shares(shares), layout(t.registers_of(name)),
      elements(summed_in_order(inverse(layout), order)), type(t.instruction.operand(name).type),
      own(name == "A" ? "i" : "j", name == "A" ? "row" : "column", elements, stage.lane),
      sum("k", "k", elements, stage.lane),
      array(Symbol::fresh(str(stage.nest.stage->func, ".", name == "A" ? "a" : "b"))) {}

Expr FillFragment::place() const {
    return call(Handle(), Intrinsic::address_of, {Call::make(type, array, CallKind::Func, 0, {0})});
}

// Returns an expression in terms of the thread and the loops over its registers.
Expr FillFragment::in_registers(const Expr &e) {
    const TileNest &nest = stage.nest;
    const Symbol own_index = name == "A" ? row_index() : column_index();
    Substitution loops_at;
    (name == "A" ? nest.rows : nest.columns).put_values(int32_variable(own_index), loops_at);
    nest.sum.put_values(int32_variable(k_index), loops_at);
    const Expr of_tiles = (*this)(substitute(loops_at, e));
    return simplify(substitute({{own_index, own.element()}, {k_index, sum.element()}}, of_tiles));
}

Stmt FillFragment::around(const FilledOperand &operand, const Stmt &s) {
    const auto stored = [&](const Expr &value) {
        return Provide::make(array, {value}, {register_of(own, sum)});
    };
    std::vector<Expr> conditions;
    const int64_t length = stage.nest.sum.extent();
    if (layout.coordinate("k")->extent > length)
        conditions.push_back(simplify(sum.element() < int32_t(length)));
    for (const Expr &condition : operand.conditions) conditions.push_back(in_registers(condition));
    Stmt fill = stored(in_registers(operand.value));
    for (const Expr &condition : std::views::reverse(conditions))
        fill = IfThenElse::make(condition, fill, stored(make_zero(type)));
    for (const DigitLoop &l : std::views::reverse(loops_over_registers(own, sum)))
        fill = For::make(l.name, 0, int32_t(l.extent), LoopKind::Unrolled, Partition::Never, fill);
    const int64_t registers = layout.output("register")->extent();
    return Realize::make(array, {type}, MemoryType::Register, {{0, int32_t(registers)}}, {},
                         Block::make(fill, s));
}

// An element of a Tile is in a register of this thread, if it lies there as the fragment does.
Expr FillFragment::visit(const Call &c) {
    if (!tiles.contains(c.callee)) return Mutator::visit(c);
    const auto found = shares.find(c.callee);
    if (found == shares.end()) refuse(c, "it is not computed before");
    const SharedTile &tile = found->second;
    check_elements(c, tile);
    if (tiles.at(c.callee).is_of_rows()) return of_rows(c, tile);
    const Layout of_tile = tile.nest.registers();
    const Layout renamed = tile_as_operand(of_tile, name);
    if (renamed.size() != layout.size()) refuse(c, "it has other sizes");
    const Layout moved = moved_registers(c, renamed);
    const LayoutOutput &thread = *moved.output("thread"), &number = *moved.output("register");
    const auto is_of = [&](const LayoutDigit &d, const char *coordinate) {
        return moved.coordinates[d.coordinate].name == coordinate;
    };
    const bool same_thread = std::ranges::all_of(thread.digits, [&](const LayoutDigit &d) {
        return is_of(d, "thread") && d.divisor == d.stride;
    });
    const bool by_register = std::ranges::all_of(
        number.digits, [&](const LayoutDigit &d) { return is_of(d, "register"); });
    if (!same_thread || !by_register)
        refuse(c, "its elements are in registers of other threads than the instruction's "
                  "operand wants");
    const Expr at[] = {stage.lane, register_of(own, sum)};
    return c.with<&Call::args>({value_of(number, moved.coordinates, at)});
}

// The value of a row is in all threads that have elements of it.
Expr FillFragment::of_rows(const Call &c, const SharedTile &tile) const {
    const Tile &t = tiles.at(c.callee);
    if (name != "A") refuse(c, "it has a value for each row, and no columns");
    if (layout_of_rows(layout) != tile.nest.registers_of(t))
        refuse(c, "its rows are in registers of other threads than the instruction's operand "
                  "wants");
    return c.with<&Call::args>({register_of_row(c.args, t, own)});
}

// Returns where the Tile has what the fragment has in a register of a thread.
Layout FillFragment::moved_registers(const Call &c, const Layout &tile) const {
    try {
        return compose(tile, elements);
    } catch (const InternalError &) {
        refuse(c, "its elements lie in another order than the instruction's operand");
    }
}

// The element of the Tile at a row and a k is that which its own nest has at this row and
// column.
void FillFragment::check_elements(const Call &c, const SharedTile &tile) const {
    Substitution names;
    for (size_t w = 0; w < stage.nest.warps.size(); w++) {
        const For &loop = *stage.nest.warps[w];
        names[loop.name] = int32_variable(numbered_warp(w)) + loop.min;
    }
    const auto known_in = [&](const TileNest &nest) {
        return known_of_indices(nest).between(k_index, 0, int32_t(stage.nest.sum.extent() - 1));
    };
    const algebra::Facts known_here = known_in(stage.nest), known_there = known_in(tile.nest);
    const Realize &storage = *tiles.at(c.callee).storage;
    const Substitution there{{name == "A" ? column_index() : row_index(), int32_variable(k_index)}};
    for (size_t d = 0; d < c.args.size(); d++) {
        const bool is_only =
            is_const(simplify(remove_likely(stage.lets.expand(storage.bounds[d].extent))), 1);
        if (d == tiles.at(c.callee).slots || is_only) continue;
        const Expr here = simplify(
            remove_likely(stage.lets.expand(substitute(names, c.args[d]) - storage.bounds[d].min)),
            known_here);
        const Expr wanted = simplify(substitute(there, tile.element[d]), known_there);
        if (!equal(here, wanted))
            refuse(c, str("a warp reads the element ", here, " of it, and has the element ", wanted,
                          ": the tile of a warp has all columns that the next product sums, and "
                          "its rows are those of that product"));
    }
}

void FillFragment::refuse(const Call &c, const std::string &why) const {
    throw CompileError(stage.nest.warps[0]->origin.kind_written,
                       str("tensorize: ", c.callee, ", in MemoryType::Tile, is the operand ", name,
                           " of ", stage.nest.instruction.family, " in registers: ", why,
                           "; store a copy of it in MemoryType::GPUShared"));
}

}  // namespace tessera::lower
