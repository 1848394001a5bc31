#include "lower/gpu/stored_tile.h"
#include "algebra/prove.h"
#include "algebra/simplify.h"
#include "ir/equal.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "lower/gpu/kernel_loops.h"
#include "lower/loops/likely.h"
#include <algorithm>
#include <numeric>

namespace tessera::lower {

using namespace ir;
using algebra::simplify;

std::optional<StoredTile> StoredTile::of(const Realize &tile, const Stmt &s,
                                         const Realizations &storage, const AroundCopy &around) {
    StoredTile found(tile, storage);
    const bool fits = found.read(s) && found.find_storage(around) && found.find_target(around) &&
                      found.find_limits(around);
    if (!fits) return std::nullopt;
    found.shift = found.shift_of_rows(around);
    return found;
}

// Walks down to what is stored.
bool StoredTile::read(const Stmt &s) {
    if (const auto *let = s.as<LetStmt>()) {
        known[let->name] = substitute(known, let->value);
        return read(let->body);
    }
    if (const auto *loop = s.as<For>()) {
        if (loop->loop_kind != LoopKind::Serial) return false;
        if (is_const(simplify(remove_likely(substitute(known, loop->extent))), 1))
            known[loop->name] = substitute(known, loop->min);
        else
            loops.push_back(loop);
        return read(loop->body);
    }
    if (const auto *branch = s.as<IfThenElse>(); branch && !branch->else_case.defined()) {
        conditions.push_back(remove_likely(substitute(known, branch->condition)));
        return read(branch->then_case);
    }
    provide = s.as<Provide>();
    return provide && !provide->predicate.defined() && provide->values.size() == 1;
}

// Returns the expression without lets within the kernel.
Expr StoredTile::expanded(const Expr &e, const AroundCopy &around) const {
    return simplify(remove_likely(substitute(around.lets, substitute(known, e))));
}

// Finds the loop along each dimension of the storage, all of which is copied.
bool StoredTile::find_storage(const AroundCopy &around) {
    const Expr value = remove_likely(provide->values[0]);
    const auto *c = value.as<Call>();
    if (!c || c->callee != tile.func || tile.types.size() != 1 || !tile.storage.order.empty())
        return false;
    for (size_t d = 0; d < tile.bounds.size(); d++) {
        const auto extent = as_const_int(simplify(tile.bounds[d].extent));
        if (!extent || *extent < 1) return false;
        extents.push_back(*extent);
        const Expr from = expanded(c->args[d] - tile.bounds[d].min, around);
        const For *loop = nullptr;
        for (const For *l : loops)
            if (uses_symbol(from, l->name)) loop = l;
        along.push_back(loop);
        if (!loop) {
            if (*extent != 1 || !is_zero(from)) return false;
            continue;
        }
        const Expr from_first = int32_variable(loop->name) - expanded(loop->min, around);
        const bool is_all = is_const(expanded(loop->extent, around), *extent) &&
                            is_zero(simplify(from - from_first));
        if (!is_all) return false;
    }
    return along.size() - size_t(std::ranges::count(along, nullptr)) == loops.size();
}

// Finds the dimensions of what is stored to: at most one of the storage runs along each.
bool StoredTile::find_target(const AroundCopy &around) {
    for (const Expr &arg : provide->args) {
        const Expr at = expanded(arg, around);
        Along found{at, at, {}};
        for (size_t d = 0; d < along.size(); d++) {
            const For *loop = along[d];
            if (!loop || !uses_symbol(at, loop->name)) continue;
            if (found.d) return false;
            found.d = d;
            const Expr min = expanded(loop->min, around);
            found.first = simplify(substitute(loop->name, min, at));
            if (!is_zero(simplify(at - found.first - (int32_variable(loop->name) - min))))
                return false;
        }
        to.push_back(found);
    }
    const auto runs_along = [&](const Along &a) { return a.d.has_value(); };
    return std::ranges::count_if(to, runs_along) == std::ptrdiff_t(loops.size()) && !to.empty();
}

// Finds where what is stored to begins or ends, by the conditions. Returns false if one says
// anything else, or something else for other tiles.
bool StoredTile::find_limits(const AroundCopy &around) {
    const auto is_fixed = [&](const Expr &e) {
        return !uses_any(e, around.names) &&
               std::ranges::none_of(loops, [&](const For *l) { return uses_symbol(e, l->name); });
    };
    for (const Expr &condition : conditions) {
        const auto parts = parts_of_condition(condition);
        if (!parts) return false;
        for (const Expr &part : *parts) {
            const Expr not_negative = expanded(part, around);
            bool is_found = algebra::can_prove(not_negative >= 0, around.facts);
            for (Along &a : to) {
                const Expr end = simplify(not_negative + a.at + 1),
                           begin = simplify(a.at - not_negative);
                if (is_found || !a.d) continue;
                is_found = true;
                if (is_fixed(end))
                    a.end = a.end.defined() ? min(a.end, end) : end;
                else if (is_fixed(begin))
                    a.begin = a.begin.defined() ? max(a.begin, begin) : begin;
                else
                    is_found = false;
            }
            if (!is_found) return false;
        }
    }
    return true;
}

Expr StoredTile::target() const {
    return Call::make(tile.types[0], provide->func, CallKind::Func, 0, provide->args);
}

// Stores the element at these coordinates of the storage.
Stmt StoredTile::element(const std::vector<Expr> &at) const {
    Substitution values;
    for (size_t d = 0; d < along.size(); d++)
        if (along[d]) values[along[d]->name] = simplify(at[d] + substitute(known, along[d]->min));
    Stmt s = substitute(values, substitute(known, Stmt(provide)));
    for (const Expr &condition : conditions) s = IfThenElse::make(substitute(values, condition), s);
    return s;
}

// Returns how far boxes begin from multiples of 16 bytes of a row, when it runs; the machine has no
// others. Undefined: that is not the same for all boxes.
Expr StoredTile::shift_of_rows(const AroundCopy &around) const {
    const auto step = int32_t(slot_bytes / tile.types[0].bytes());
    Expr phase;
    for (const Expr &value : possible_values(to[0].first)) {
        const Expr next = simplify(simplify(value) % step);
        if (uses_any(next, around.names)) return {};
        if (phase.defined() && !is_zero(simplify((next - phase) % step))) return {};
        phase = next;
    }
    return simplify((mapped()[0].min - phase) % step);
}

Layout StoredTile::layout_for_machine() const {
    constexpr int64_t most_of_box = 256;
    constexpr size_t most_rank = 5;
    const int64_t bytes = tile.types[0].bytes(), of_row = extents[0] * bytes;
    const bool has_rows =
        of_row % most_swizzle == 0 || (most_swizzle % of_row == 0 && of_row >= slot_bytes);
    const bool fits = to[0].d == size_t(0) && to.size() <= most_rank && has_rows &&
                      std::ranges::all_of(std::span(extents).subspan(1),
                                          [](int64_t e) { return e <= most_of_box; });
    // A box has the dimensions of the storage in their order.
    size_t next = 0;
    for (size_t i = 0; i < to.size(); i++) {
        if (!to[i].d) continue;
        if (*to[i].d < next) return {};
        next = *to[i].d + 1;
    }
    if (!fits || has_misaligned_rows(*target().as<Call>(), storage) || !shift.defined() ||
        as_const_int(shift).value_or(0) != 0)
        return {};
    const Layout layout = panels_of(extents, bytes);
    const int64_t panels = std::max<int64_t>(1, of_row / most_swizzle);
    return layout.size() * bytes / panels % most_swizzle == 0 ? layout : Layout();
}

// The dimensions in the order of the storage; those that none of it runs along are last.
std::vector<MappedDimension> StoredTile::mapped() const {
    std::vector<MappedDimension> all = dimensions_of(*target().as<Call>(), storage);
    for (size_t i = 0; i < all.size(); i++) {
        MappedDimension &m = all[i];
        Expr end = m.min + m.extent;
        if (to[i].end.defined()) end = min(end, to[i].end);
        if (to[i].begin.defined()) m.min = max(m.min, to[i].begin);
        if (to[i].end.defined() || to[i].begin.defined()) m.extent = simplify(end - m.min);
    }
    return all;
}

Stmt StoredTile::by_machine() const {
    const Layout layout = layout_for_machine();
    const auto of_panel =
        int32_t(std::min<int64_t>(extents[0], most_swizzle / tile.types[0].bytes()));
    const Symbol panel = Symbol::fresh("panel");
    const Expr begin = int32_variable(panel) * of_panel;
    std::vector<Symbol> names;
    std::vector<Expr> at, first;
    for (size_t d = 0; d < extents.size(); d++) {
        names.push_back(Symbol::fresh("box"));
        const Expr within = extents[d] == 1 ? Expr(0) : Expr(int32_variable(names.back()));
        at.push_back(d == 0 ? simplify(begin + within) : within);
        first.push_back(simplify(tile.bounds[d].min + (d == 0 ? begin : Expr(0))));
    }
    Stmt box = element(at);
    for (size_t d = 0; d < extents.size(); d++)
        box = For::make(names[d], 0, d == 0 ? of_panel : int32_t(extents[d]), LoopKind::Serial,
                        Partition::Never, box);
    const std::vector<MappedDimension> all = mapped();
    TileCopy t;
    t.copy.mode = BoxCopy::Mode::Store;
    t.copy.rank = all.size();
    t.copy.bits = tile.types[0].bits();
    for (size_t i = 0; i < all.size(); i++) {
        const std::optional<size_t> d = to[i].d;
        t.copy.box.push_back(!d ? 1 : *d == 0 ? of_panel : extents[*d]);
        const Expr from = d == size_t(0) ? to[i].first + begin : to[i].first;
        t.coordinates.push_back(simplify(from - all[i].min));
    }
    t.place = call(Handle(), Intrinsic::address_of,
                   {Call::make(tile.types[0], tile.func, CallKind::Func, 0, first)});
    t.map = tensor_map_of(*target().as<Call>(), all, t.copy, layout.outputs[0].swizzle, shift);
    const Stmt store = MachineOp::make(MachineOpKind::copy_tile, t.operands(), box);
    const Stmt panels = For::make(panel, 0, int32_t(extents[0]) / of_panel, LoopKind::Serial,
                                  Partition::Never, store);
    return MachineOp::make(MachineOpKind::copy_tile, {StringImm::make(end_of_stores().name)},
                           panels);
}

Stmt StoredTile::by_threads(const ThreadLoops &threads) const {
    const int64_t wide = to[0].d == size_t(0)
                             ? std::gcd(extents[0], slot_bytes / tile.types[0].bytes())
                             : 1,
                  of_row = extents[0] / wide;
    int64_t chunks = of_row, count = 1;
    for (size_t d = 1; d < extents.size(); d++) chunks *= extents[d];
    std::vector<Symbol> names;
    Expr number = 0;
    for (const For *loop : threads) {
        names.push_back(Symbol::fresh("storing"));
        number = number * loop->extent + int32_variable(names.back());
        count *= as_const_int(simplify(loop->extent)).value_or(0);
    }
    if (count < 1) return {};
    const Symbol round = Symbol::fresh("round"), x = Symbol::fresh("x");
    const Expr which = number + int32_variable(round) * int32_t(count);
    std::vector<Expr> at = {which % int32_t(of_row) * int32_t(wide) + int32_variable(x)};
    Expr rest = which / int32_t(of_row);
    for (size_t d = 1; d < extents.size(); d++) {
        at.push_back(rest % int32_t(extents[d]));
        rest = rest / int32_t(extents[d]);
    }
    Stmt s = For::make(x, 0, int32_t(wide), LoopKind::Vectorized, Partition::Never, element(at));
    if (chunks % count != 0) s = IfThenElse::make(which < int32_t(chunks), s);
    s = For::make(round, 0, int32_t((chunks + count - 1) / count), LoopKind::Serial,
                  Partition::Never, s);
    for (size_t i = threads.size(); i-- > 0;)
        s = For::make(names[i], 0, threads[i]->extent, LoopKind::GPUThread, Partition::Never, s);
    return s;
}

}  // namespace tessera::lower
