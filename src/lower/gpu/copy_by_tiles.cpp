#include "algebra/prove.h"
#include "algebra/simplify.h"
#include "ir/equal.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "lower/gpu/staged_copy.h"
#include "lower/gpu/tensor_maps.h"
#include <algorithm>
#include <cstdint>
#include <ranges>

// The part of StagedCopy by which the machine copies boxes.
namespace tessera::lower {

using namespace ir;
using algebra::simplify;

namespace {

constexpr int32_t most_of_box = 256;
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

}  // namespace

// Returns true if what the condition leaves out is what these dimensions do not have, which the
// machine fills with zeros.
bool StagedCopy::is_filled_outside(const std::vector<TiledDimension> &dimensions) const {
    std::vector<Expr> parts, limits_of_at;
    if (condition.defined()) {
        const auto found = parts_of_condition(condition);
        if (!found) return false;
        parts = *found;
    }
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
    for (const Expr &end : least_ends(simplify(dimension.first + limits[d]))) {
        if (algebra::can_prove(end - dimension.first >= extents[d])) continue;
        if (uses_any(end, of_kernel)) return false;
        dimension.end = dimension.end.defined() ? min(dimension.end, end) : end;
    }
    return true;
}

// Returns a dimension of what is copied: where from, without what clamps that.
StagedCopy::TiledDimension
StagedCopy::clamped_dimension(size_t of_source, const std::unordered_set<Symbol> &of_kernel) const {
    const std::unordered_set<Symbol> of_box(coordinates.begin(), coordinates.end());
    const auto is_fixed = [&](const Expr &e) {
        return !uses_any(e, of_kernel) && !uses_any(e, of_box);
    };
    Clamped arg{.at = source.as<Call>()->args[of_source]};
    if (condition.defined()) find_clamped(Expr(arg.at), 0, is_fixed, arg);
    Substitution at_first;
    for (Symbol c : coordinates) at_first[c] = 0;
    return {.of_source = of_source,
            .at = arg.at,
            .first = simplify(substitute(at_first, arg.at)),
            .begin = arg.first,
            .last = arg.last};
}

bool StagedCopy::equal_to_coordinate(const Expr &e, size_t d) const {
    return equal(e, int32_variable(coordinates[d]));
}

std::vector<Expr> StagedCopy::least_ends(const Expr &end) {
    std::vector<Expr> ends;
    least_of(end, 0, ends);
    return ends;
}

// Returns the dimension of what is copied if at most one of the box runs along it, over neighbours.
std::optional<StagedCopy::TiledDimension>
StagedCopy::tiled_dimension(size_t of_source, const std::unordered_set<Symbol> &of_kernel) const {
    TiledDimension found = clamped_dimension(of_source, of_kernel);
    const Expr moved = simplify(found.at - found.first);
    if (is_zero(moved)) return found;
    for (size_t d = 0; d < coordinates.size(); d++)
        if (equal_to_coordinate(moved, d)) found.d = d;
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

// The rows of a panel are those that the machine swizzles, or of slots, and each panel begins at a
// multiple of 128 bytes.
bool StagedCopy::has_rows_of_machine() const {
    const int64_t of_row = of_panel * int64_t(ring.types[0].bytes());
    const bool fits = layout.defined() && layout.outputs[0].swizzle > 0
                          ? of_row == layout.outputs[0].swizzle
                          : of_row % slot_bytes == 0;
    return fits && bytes() / (extents[0] / of_panel) % most_swizzle == 0;
}

// Returns by how many elements a row is to begin later, so that boxes begin at multiples of 16
// bytes of it, where the machine alone copies from; negative, when it runs: no number does for all.
// Undefined: that depends on the box.
Expr StagedCopy::shift_of_rows(const TiledDimension &along_rows,
                               const AroundCopy &around_it) const {
    const auto step = int32_t(slot_bytes / ring.types[0].bytes());
    const Expr begin = mapped_part(along_rows).min;
    const auto shift_by = [&](const Expr &place) -> Expr {
        Expr shift, phase_of_first;
        for (const Expr &first : possible_values(place)) {
            const Expr phase = simplify(first % step);
            if (uses_any(phase, around_it.names)) return {};
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
                           : shift_by(simplify(substitute(around_it.lets, along_rows.first)));
}

bool StagedCopy::is_by_tiles(const AroundCopy &around_it) const {
    if (!source.defined()) return false;
    const auto &c = *source.as<Call>();
    if (c.call_kind != CallKind::Image && !storage.contains(c.callee)) return false;
    const size_t rank = c.args.size();
    if (rank < 2 || rank > most_rank || of_panel > most_of_box || !has_rows_of_machine() ||
        has_misaligned_rows(c, storage))
        return false;
    const std::vector<TiledDimension> dimensions = tiled_dimensions(around_it.names);
    const auto of_places = dimensions.empty() ? places(around_it) : std::nullopt;
    if (dimensions.empty() && !of_places) return false;
    const Expr shift = shift_of_rows(of_places ? of_places->channels : dimensions[0], around_it);
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
    if (d == 0) return extents[0] / of_panel % parts == 0;
    return extents[d] % parts == 0 && bytes() / (extents[0] / of_panel) / parts % most_swizzle == 0;
}

bool StagedCopy::depends_on(Symbol loop, const Substitution &lets) const {
    const auto depends = [&](const Expr &e) {
        return e.defined() && uses_symbol(substitute(lets, e), loop);
    };
    return depends(value) || depends(slot) || std::ranges::any_of(limits, depends);
}

// Returns how the machine copies boxes, in each of which `lengths` elements lie along dimensions of
// the ring buffer.
StagedCopy::ByMachine StagedCopy::by_boxes(const std::vector<TiledDimension> &dimensions,
                                           const std::vector<int32_t> &lengths,
                                           const Expr &shift) const {
    std::vector<MappedDimension> mapped;
    ByMachine made;
    made.copy.rank = dimensions.size();
    for (const TiledDimension &d : dimensions) {
        MappedDimension m = mapped_part(d);
        made.copy.box.push_back(mapped.empty() ? of_panel : d.d ? lengths[*d.d] : 1);
        made.first.push_back(d.first - m.min + (mapped.empty() ? shift : Expr(0)));
        made.of_box.push_back(d.d);
        mapped.push_back(std::move(m));
    }
    made.map = tensor_map_of(*source.as<Call>(), mapped, made.copy,
                             layout.defined() ? layout.outputs[0].swizzle : 0, shift);
    return made;
}

// Returns what the machine sees of a dimension: what is beyond this is zero.
MappedDimension StagedCopy::mapped_part(const TiledDimension &d) const {
    MappedDimension m = dimensions_of(*source.as<Call>(), storage)[d.of_source];
    Expr end = m.min + m.extent;
    if (d.last.defined()) end = d.last + 1;
    if (d.end.defined()) end = min(end, d.end);
    if (d.begin.defined()) m.min = d.begin;
    const bool is_part = d.begin.defined() || d.last.defined() || d.end.defined();
    if (is_part) m.extent = simplify(end - m.min);
    return m;
}

Stmt StagedCopy::by_tiles(const Expr &barrier, const AroundCopy &around_it,
                          const SharedCopy &shared) const {
    const std::vector<TiledDimension> dimensions = tiled_dimensions(around_it.names);
    const size_t in_parts = dimension_of_parts(shared.parts);
    std::vector<int32_t> lengths = extents;  // of what this block copies
    lengths[in_parts] /= int32_t(shared.parts);
    std::vector<Expr> begin(extents.size(), 0);
    if (shared.parts > 1) begin[in_parts] = shared.part * lengths[in_parts];
    const Symbol panel = Symbol::fresh("panel");
    begin[0] = simplify(begin[0] + int32_variable(panel) * of_panel);
    std::vector<Symbol> names;
    std::vector<Expr> at, first;
    for (size_t d = 0; d < extents.size(); d++) {
        names.push_back(Symbol::fresh("box"));
        at.push_back(simplify(begin[d] + int32_variable(names.back())));
        first.push_back(begin[d]);
    }
    const auto of_places = dimensions.empty() ? places(around_it) : std::nullopt;
    const Expr shift = shift_of_rows(of_places ? of_places->channels : dimensions[0], around_it);
    const ByMachine machine = of_places ? by_places(*of_places, begin[1], lengths[1], shift)
                                        : by_boxes(dimensions, lengths, shift);
    Stmt box = store(value_at(at), at);
    if (const Expr is_whole = whole(at, 1); is_whole.defined())
        box = IfThenElse::make(is_whole, box, store(make_zero(ring.types[0]), at));
    for (size_t d = 0; d < extents.size(); d++)
        box = For::make(names[d], 0, d == 0 ? of_panel : lengths[d], LoopKind::Serial,
                        Partition::Never, box);
    first.push_back(slot);
    TileCopy t;
    t.copy = machine.copy;
    t.map = machine.map;
    t.barrier = barrier;
    t.place = call(Handle(), Intrinsic::address_of,
                   {Call::make(ring.types[0], ring.func, CallKind::Func, 0, first)});
    t.copy.is_shared = shared.parts > 1;
    t.copy.bits = ring.types[0].bits();
    t.blocks = t.copy.is_shared ? shared.blocks : Expr(0);
    for (size_t i = 0; i < machine.first.size(); i++) {
        const std::optional<size_t> d = machine.of_box[i];
        t.coordinates.push_back(simplify(d ? machine.first[i] + begin[*d] : machine.first[i]));
    }
    t.offsets = machine.offsets;
    const Stmt s = MachineOp::make(MachineOpKind::copy_tile, t.operands(), box);
    return around(
        For::make(panel, 0, lengths[0] / of_panel, LoopKind::Serial, Partition::Never, s));
}

}  // namespace tessera::lower
