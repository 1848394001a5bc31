#include "algebra/prove.h"
#include "algebra/simplify.h"
#include "ir/equal.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "lower/gpu/staged_copy.h"
#include "program/parameter.h"
#include <algorithm>
#include <cstdint>
#include <ranges>

// The part of StagedCopy by which the machine copies boxes.
namespace tessera::lower {

using namespace ir;
using algebra::simplify;

namespace {

constexpr int32_t bytes_of_step = 16, most_of_box = 256;
constexpr size_t most_rank = 5;  // of a tensor map

// The operands of a minimum, and a number that is added to it.
void least_of(const Expr &e, int64_t added, std::vector<Expr> &all) {
    if (const auto *m = e.as<Min>()) {
        least_of(m->a, added, all);
        return least_of(m->b, added, all);
    }
    const auto *sum = e.as<Add>();
    const auto by = sum ? as_const_int(sum->b) : std::nullopt;
    if (by) return least_of(sum->a, added + *by, all);
    all.push_back(simplify(e + int32_t(added)));
}

// Returns what a value may be, as far as minima and maxima, and what is added to them, say.
std::vector<Expr> possible_values(const Expr &e) {
    constexpr size_t most = 16;
    const auto both = [](const auto &m) {
        std::vector<Expr> all = possible_values(m.a), others = possible_values(m.b);
        all.insert(all.end(), others.begin(), others.end());
        return all;
    };
    const auto combined = [&](const auto &sum, const auto &combine) -> std::vector<Expr> {
        const std::vector<Expr> all = possible_values(sum.a), others = possible_values(sum.b);
        const size_t count = all.size() * others.size();
        if (count == 1 || count > most) return {e};
        std::vector<Expr> sums;
        for (const Expr &a : all)
            for (const Expr &b : others) sums.push_back(combine(a, b));
        return sums;
    };
    if (const auto *m = e.as<Min>()) return both(*m);
    if (const auto *m = e.as<Max>()) return both(*m);
    if (const auto *sum = e.as<Add>())
        return combined(*sum, [](const Expr &a, const Expr &b) { return a + b; });
    if (const auto *difference = e.as<Sub>())
        return combined(*difference, [](const Expr &a, const Expr &b) { return a - b; });
    return {e};
}

// A coordinate that is clamped: max(min(at, last), first); undefined: it is not, on that side.
struct Clamped {
    Expr at, first = {}, last = {};
};

// `is_fixed` says of an expression that it is the same for all that a kernel copies.
template<typename IsFixed>
void find_clamped(const Expr &e, const Expr &added, const IsFixed &is_fixed, Clamped &found) {
    const auto inner = [&](const auto &limited, Expr &limit) {
        const bool fixed_a = is_fixed(limited.a), fixed_b = is_fixed(limited.b);
        if (fixed_a == fixed_b || limit.defined()) return false;
        limit = simplify((fixed_a ? limited.a : limited.b) + added);
        find_clamped(fixed_a ? limited.b : limited.a, added, is_fixed, found);
        return true;
    };
    if (const auto *m = e.as<Max>(); m && inner(*m, found.first)) return;
    if (const auto *m = e.as<Min>(); m && inner(*m, found.last)) return;
    if (const auto *sum = e.as<Add>(); sum && is_fixed(sum->b))
        return find_clamped(sum->a, simplify(added + sum->b), is_fixed, found);
    if (const auto *sum = e.as<Add>(); sum && is_fixed(sum->a))
        return find_clamped(sum->b, simplify(added + sum->a), is_fixed, found);
    if (const auto *difference = e.as<Sub>(); difference && is_fixed(difference->b))
        return find_clamped(difference->a, simplify(added - difference->b), is_fixed, found);
    found.at = simplify(e + added);
}

// Lists the parts of a condition, all of which hold where it does, as what is not negative then.
// Returns false if one is no comparison of integers.
bool list_parts(const Expr &e, bool is_negated, std::vector<Expr> &all) {
    const auto both = [&](const auto &c) {
        return list_parts(c.a, is_negated, all) && list_parts(c.b, is_negated, all);
    };
    const auto less = [&](const Expr &a, const Expr &b, int32_t by) {  // a + by <= b
        if (a.type() != Int(32)) return false;
        all.push_back(is_negated ? a - b - (1 - by) : b - a - by);
        return true;
    };
    if (const auto *c = e.as<Not>()) return list_parts(c->a, !is_negated, all);
    if (const auto *c = e.as<And>(); c && !is_negated) return both(*c);
    if (const auto *c = e.as<Or>(); c && is_negated) return both(*c);
    if (const auto *c = e.as<LT>()) return less(c->a, c->b, 1);
    if (const auto *c = e.as<LE>()) return less(c->a, c->b, 0);
    if (const auto *c = e.as<GT>()) return less(c->b, c->a, 1);
    if (const auto *c = e.as<GE>()) return less(c->b, c->a, 0);
    return false;
}

}  // namespace

// Returns true if what the condition leaves out is what these dimensions do not have, which the
// machine fills with zeros.
bool StagedCopy::is_filled_outside(const std::vector<TiledDimension> &dimensions) const {
    std::vector<Expr> parts, limits_of_at;
    if (condition.defined() && !list_parts(condition, false, parts)) return false;
    for (const TiledDimension &d : dimensions) {
        if (d.begin.defined()) limits_of_at.push_back(d.at - d.begin);
        if (d.last.defined()) limits_of_at.push_back(d.last - d.at);
    }
    const auto has = [](const std::vector<Expr> &all, const Expr &wanted) {
        return std::ranges::any_of(all,
                                   [&](const Expr &e) { return is_zero(simplify(e - wanted)); });
    };
    return std::ranges::all_of(parts, [&](const Expr &e) { return has(limits_of_at, e); }) &&
           std::ranges::all_of(limits_of_at, [&](const Expr &e) {
               return has(parts, e) || algebra::can_prove(simplify(e) >= 0);
           });
}

// Finds where what is copied ends in this dimension, if the box may go beyond the limit. Returns
// false if that is not the same for all boxes.
bool StagedCopy::find_end(TiledDimension &dimension,
                          const std::unordered_set<Symbol> &of_kernel) const {
    const size_t d = *dimension.d;
    if (!limits[d].defined()) return true;
    std::vector<Expr> ends;
    least_of(simplify(dimension.first + limits[d]), 0, ends);
    for (const Expr &end : ends) {
        if (algebra::can_prove(end - dimension.first >= extents[d])) continue;
        if (uses_any(end, of_kernel)) return false;
        dimension.end = dimension.end.defined() ? min(dimension.end, end) : end;
    }
    return true;
}

// Returns the dimension of what is copied if at most one of the box runs along it, over neighbours.
std::optional<StagedCopy::TiledDimension>
StagedCopy::tiled_dimension(size_t of_source, const std::unordered_set<Symbol> &of_kernel) const {
    const std::unordered_set<Symbol> of_box(coordinates.begin(), coordinates.end());
    const auto is_fixed = [&](const Expr &e) {
        return !uses_any(e, of_kernel) && !uses_any(e, of_box);
    };
    Clamped arg{.at = source.as<Call>()->args[of_source]};
    if (condition.defined()) find_clamped(Expr(arg.at), 0, is_fixed, arg);
    Substitution at_first;
    for (Symbol c : coordinates) at_first[c] = 0;
    TiledDimension found{.of_source = of_source,
                         .at = arg.at,
                         .first = simplify(substitute(at_first, arg.at)),
                         .begin = arg.first,
                         .last = arg.last};
    const Expr moved = simplify(arg.at - found.first);
    if (is_zero(moved)) return found;
    for (size_t d = 0; d < coordinates.size(); d++)
        if (equal(moved, int32_variable(coordinates[d]))) found.d = d;
    if (!found.d || !find_end(found, of_kernel)) return std::nullopt;
    return found;
}

// Returns the dimensions in the order in which the machine copies them: that of the box, those that
// none of the box runs along where they are in the source, or last. An empty list: it cannot.
std::vector<StagedCopy::TiledDimension>
StagedCopy::tiled_dimensions(const std::unordered_set<Symbol> &of_kernel) const {
    std::vector<TiledDimension> all;
    const auto of_box = [](const TiledDimension &t) { return t.d.value_or(SIZE_MAX); };
    for (size_t i = 0; i < source.as<Call>()->args.size(); i++) {
        const auto found = tiled_dimension(i, of_kernel);
        if (!found) return {};
        all.push_back(*found);
    }
    const auto is_there = [](const TiledDimension &t) { return t.d.has_value(); };
    if (!std::ranges::is_sorted(all | std::views::filter(is_there), {}, of_box))
        std::ranges::stable_sort(all, {}, of_box);
    size_t next = 0;  // those of the box follow one another
    for (const TiledDimension &found : all) {
        if (!found.d) continue;
        while (next < *found.d && extents[next] == 1) next++;
        if (*found.d != next || (next > 0 && extents[next] > most_of_box)) return {};
        next++;
    }
    while (next < extents.size() && extents[next] == 1) next++;
    const bool runs_along_rows =
        !all.empty() && all[0].d == size_t(0) && all[0].of_source == 0 && is_filled_outside(all);
    return next == extents.size() && runs_along_rows ? all : std::vector<TiledDimension>();
}

// Returns true if the rows of what is copied are known not to begin at multiples of 16 bytes.
bool StagedCopy::is_misaligned() const {
    const auto &c = *source.as<Call>();
    const int32_t step = bytes_of_step / ring.types[0].bytes();
    const auto is_odd = [&](const Expr &stride) {
        const auto known_stride = stride.defined() ? as_const_int(simplify(stride)) : std::nullopt;
        return known_stride && *known_stride % step != 0;
    };
    if (c.call_kind == CallKind::Image) {
        const auto *p = dynamic_cast<const program::Parameter *>(c.referent.get());
        for (size_t d = 1; p && d < p->constraints.size(); d++)
            if (is_odd(p->constraints[d].stride)) return true;
        return false;
    }
    const auto found = storage.find(c.callee);
    if (found == storage.end() || !found->second->storage.order.empty()) return true;
    Expr stride = 1;
    for (size_t d = 0; d + 1 < c.args.size(); d++) {
        stride = stride * found->second->bounds[d].extent;
        if (is_odd(stride)) return true;
    }
    return false;
}

// Returns by how many elements a row is to begin later, so that boxes begin at multiples of 16
// bytes of it, where the machine alone copies from; negative, when it runs: no number does for all.
// Undefined: that depends on the box.
Expr StagedCopy::shift_of_rows(const TiledDimension &along_rows,
                               const KernelNames &of_kernel) const {
    const int32_t step = bytes_of_step / ring.types[0].bytes();
    const Expr begin = begin_of(along_rows);
    const auto shift_by = [&](const Expr &place) -> Expr {
        Expr shift, phase_of_first;
        for (const Expr &first : possible_values(place)) {
            const Expr phase = simplify(first % step);
            if (uses_any(phase, of_kernel.names)) return {};
            if (!shift.defined()) {
                phase_of_first = phase;
                shift = simplify((begin - phase) % step);
                continue;
            }
            const Expr is_same = simplify((phase - phase_of_first) % step == 0);
            if (is_zero(is_same)) return {};
            shift = simplify(select(is_same, shift, -1));
        }
        return shift;
    };
    // The values of lets are large where blocks are begun in an order of their own.
    const Expr shift = shift_by(along_rows.first);
    return shift.defined() ? shift
                           : shift_by(simplify(substitute(of_kernel.lets, along_rows.first)));
}

bool StagedCopy::is_by_tiles(const KernelNames &of_kernel) const {
    if (!source.defined()) return false;
    const size_t rank = source.as<Call>()->args.size();
    const bool fits =
        rank >= 2 && rank <= most_rank && extents[0] * ring.types[0].bytes() % most_swizzle == 0;
    if (!fits || is_misaligned()) return false;
    const std::vector<TiledDimension> dimensions = tiled_dimensions(of_kernel.names);
    if (dimensions.empty()) return false;
    const Expr shift = shift_of_rows(dimensions[0], of_kernel);
    return shift.defined() && as_const_int(shift).value_or(0) == 0;
}

// The outermost dimension with more than one element has the parts: the first one in panels.
size_t StagedCopy::dimension_of_parts(int64_t parts) const {
    const bool has_panels = extents[0] / of_panel % parts == 0;
    size_t d = extents.size();
    while (!has_panels && d > 1 && extents[d - 1] == 1) d--;
    return has_panels || d == 1 ? 0 : d - 1;
}

bool StagedCopy::has_parts(int64_t parts) const {
    const size_t d = dimension_of_parts(parts);
    return d == 0 ? extents[0] / of_panel % parts == 0 : extents[d] % parts == 0;
}

bool StagedCopy::depends_on(Symbol loop, const Substitution &lets) const {
    const auto depends = [&](const Expr &e) {
        return e.defined() && uses_symbol(substitute(lets, e), loop);
    };
    return depends(value) || depends(slot) || std::ranges::any_of(limits, depends);
}

// Returns what a dimension of the buffer that is copied from has.
Expr StagedCopy::property(BufferField field, size_t d) const {
    const auto &c = *source.as<Call>();
    if (c.call_kind == CallKind::Image)
        return BufferProperty::make(c.callee, field, int(d), c.referent);
    const Region &bounds = storage.at(c.callee)->bounds;
    if (field == BufferField::Min) return bounds[d].min;
    if (field == BufferField::Extent) return bounds[d].extent;
    Expr stride = 1;
    for (size_t i = 0; i < d; i++) stride = i == 0 ? bounds[i].extent : stride * bounds[i].extent;
    return stride;
}

// Returns where the map begins in a dimension.
Expr StagedCopy::begin_of(const TiledDimension &d) const {
    return d.begin.defined() ? d.begin : property(BufferField::Min, d.of_source);
}

// Returns the map of the buffer that is copied from: where it is, and how it lies in memory.
// `box_extents`: what is copied at once, where a dimension of the box runs along one of it.
Expr StagedCopy::map(const std::vector<TiledDimension> &dimensions,
                     const std::vector<int32_t> &box_extents, const Expr &shift) const {
    const auto &c = *source.as<Call>();
    std::vector<Expr> min;
    for (size_t d = 0; d < dimensions.size(); d++) min.push_back(property(BufferField::Min, d));
    std::vector<Expr> extents_of_all, strides, box;
    for (const TiledDimension &d : dimensions) {
        const size_t i = d.of_source;
        box.push_back(box.empty() ? of_panel : d.d ? box_extents[*d.d] : 1);
        const Expr extent = property(BufferField::Extent, i);
        if (i > 0) strides.push_back(property(BufferField::Stride, i));
        Expr end = min[i] + extent;
        if (d.last.defined()) end = d.last + 1;
        if (d.end.defined()) end = ir::min(end, d.end);
        min[i] = begin_of(d);
        const bool is_part = d.begin.defined() || d.last.defined() || d.end.defined();
        extents_of_all.push_back(is_part ? simplify(end - min[i]) : extent);
    }
    const Expr at = call(Handle(), Intrinsic::address_of, {c.with<&Call::args>(min)});
    std::vector<Expr> operands = {at, ring.types[0].bytes(), int32_t(dimensions.size())};
    for (const auto *list : {&extents_of_all, &strides, &box})
        operands.insert(operands.end(), list->begin(), list->end());
    operands.push_back(property(BufferField::Stride, 0));
    operands.push_back(shift);
    operands.push_back(layout.defined() ? int32_t(layout.outputs[0].swizzle) : 0);
    return call(Handle(), Intrinsic::tensor_map, operands);
}

Stmt StagedCopy::by_tiles(const Expr &barrier, const KernelNames &of_kernel,
                          const SharedCopy &shared) const {
    const std::vector<TiledDimension> dimensions = tiled_dimensions(of_kernel.names);
    const Expr shift = shift_of_rows(dimensions[0], of_kernel);
    const size_t in_parts = dimension_of_parts(shared.parts);
    std::vector<int32_t> lengths = extents;  // of what this block copies
    lengths[in_parts] /= int32_t(shared.parts);
    std::vector<Expr> begin(extents.size(), 0);
    if (shared.parts > 1) begin[in_parts] = shared.part * lengths[in_parts];
    const Expr tensor_map = map(dimensions, lengths, shift);
    const Symbol panel = Symbol::fresh("panel");
    begin[0] = simplify(begin[0] + int32_variable(panel) * of_panel);
    std::vector<Symbol> names;
    std::vector<Expr> at, first;
    for (size_t d = 0; d < extents.size(); d++) {
        names.push_back(Symbol::fresh("box"));
        at.push_back(simplify(begin[d] + int32_variable(names.back())));
        first.push_back(begin[d]);
    }
    Stmt box = store(value_at(at), at);
    if (const Expr is_whole = whole(at, 1); is_whole.defined())
        box = IfThenElse::make(is_whole, box, store(make_zero(ring.types[0]), at));
    for (size_t d = 0; d < extents.size(); d++)
        box = For::make(names[d], 0, d == 0 ? of_panel : lengths[d], LoopKind::Serial,
                        Partition::Never, box);
    first.push_back(slot);
    const Expr to = call(Handle(), Intrinsic::address_of,
                         {Call::make(ring.types[0], ring.func, CallKind::Func, 0, first)});
    std::vector<Expr> operands = {to, barrier, tensor_map,
                                  shared.parts > 1 ? shared.blocks : Expr(0)};
    for (const TiledDimension &d : dimensions) {
        const Expr at_begin = (d.d ? d.first + begin[*d.d] : d.first) - begin_of(d);
        operands.push_back(simplify(&d == &dimensions[0] ? at_begin + shift : at_begin));
    }
    const Stmt s = MachineOp::make(MachineOpKind::copy_tile, std::move(operands), box);
    return around(
        For::make(panel, 0, lengths[0] / of_panel, LoopKind::Serial, Partition::Never, s));
}

}  // namespace tessera::lower
