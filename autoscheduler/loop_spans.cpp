#include "autoscheduler/loop_spans.h"
#include "ir/operators.h"
#include <algorithm>

namespace tessera::autoscheduler {

using program::Fuse;
using program::Rename;
using program::Split;
using program::StageSchedule;

namespace {

int64_t factor_of(const Split &split) {
    return std::max<int64_t>(1, ir::as_const_int(split.factor).value_or(1));
}

// Returns the middle iteration: of two the first, since the last one may be cut off.
Span middle_of(int64_t extent) { return {(extent - 1) / 2, (extent - 1) / 2}; }

}  // namespace

LoopSpans::LoopSpans(const StageSchedule &schedule, const Variables &variables,
                     std::span<const Span> spans)
    : schedule(schedule), variables(variables), spans(spans) {
    for (size_t v = 0; v < variables.size(); v++) {
        set_extent(variables.name(v), std::max<int64_t>(1, spans[v].extent()));
    }
    for (const auto &written : schedule.transforms) {
        if (const auto *s = std::get_if<Split>(&written.directive)) {
            const int64_t factor = factor_of(*s), old = extent(s->old);
            taken.push_back(old);
            set_extent(s->inner, factor);
            set_extent(s->outer, (old + factor - 1) / factor);
        } else if (const auto *f = std::get_if<Fuse>(&written.directive)) {
            taken.push_back(extent(f->inner));
            set_extent(f->fused, extent(f->inner) * extent(f->outer));
        } else {
            const auto &r = std::get<Rename>(written.directive);
            taken.push_back(extent(r.old));
            set_extent(r.new_name, extent(r.old));
        }
    }
}

int64_t LoopSpans::extent(Symbol loop) const {
    const auto found = std::ranges::find(extents, loop, &std::pair<Symbol, int64_t>::first);
    return found == extents.end() ? 1 : found->second;
}

void LoopSpans::set_extent(Symbol loop, int64_t extent) {
    const auto found = std::ranges::find(extents, loop, &std::pair<Symbol, int64_t>::first);
    if (found != extents.end()) {
        found->second = extent;
    } else {
        extents.emplace_back(loop, extent);
    }
}

std::vector<Span> LoopSpans::variables_with_fixed(std::span<const Symbol> fixed) const {
    std::vector<Span> spans_of_loops;  // as `extents`
    Span of_no_loop;
    for (const auto &[loop, extent] : extents) spans_of_loops.push_back({0, extent - 1});
    const auto at = [&](Symbol loop) -> Span & {
        const auto found = std::ranges::find(extents, loop, &std::pair<Symbol, int64_t>::first);
        if (found == extents.end()) return of_no_loop = Span();
        return spans_of_loops[size_t(found - extents.begin())];
    };
    for (Symbol loop : fixed) at(loop) = middle_of(extent(loop));
    for (size_t i = schedule.transforms.size(); i-- > 0;) {
        const auto &transform = schedule.transforms[i].directive;
        if (const auto *s = std::get_if<Split>(&transform)) {
            const int64_t factor = factor_of(*s), last = taken[i] - 1;
            const Span outer = at(s->outer), inner = at(s->inner);
            at(s->old) = {std::min(outer.min * factor + inner.min, last),
                          std::min(outer.max * factor + inner.max, last)};
        } else if (const auto *f = std::get_if<Fuse>(&transform)) {
            const int64_t inner = taken[i];
            const Span fused = at(f->fused);
            const bool is_fixed = fused.min == fused.max;
            at(f->outer) = is_fixed ? middle_of(extent(f->fused) / inner)
                                    : Span{fused.min / inner, fused.max / inner};
            at(f->inner) = is_fixed ? middle_of(inner) : Span{0, inner - 1};
        } else {
            const auto &r = std::get<Rename>(transform);
            at(r.old) = at(r.new_name);
        }
    }
    std::vector<Span> result;
    for (size_t v = 0; v < variables.size(); v++) {
        const Span s = at(variables.name(v));
        result.push_back({spans[v].min + s.min, spans[v].min + s.max});
    }
    return result;
}

}  // namespace tessera::autoscheduler
