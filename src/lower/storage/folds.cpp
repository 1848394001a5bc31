#include "lower/storage/folds.h"
#include "algebra/prove.h"
#include "algebra/simplify.h"
#include "algebra/solve.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "lower/storage/slides.h"
#include <algorithm>
#include <array>
#include <bit>

namespace tessera::lower {

using namespace ir;
using algebra::Interval;
using algebra::is_monotonic;
using algebra::Monotonic;
using algebra::simplify;

namespace {

// Returns the factor by which the user wants a dimension to be folded; undefined: nothing.
Expr wanted_factor(const Production &p, size_t d) {
    const StorageFold *fold = fold_of(p.storage.storage, d);
    return fold ? fold->factor : Expr();
}

class FindFolds {
public:
    explicit FindFolds(const Production &production)
        : production(production), path(production.path), slides(production),
          found(production.dimensions()) {}

    // The first loop that moves along the dimension; none if no loop does.
    std::optional<size_t> first_along(size_t d) const {
        for (size_t i = 0; i < path.entries.size(); i++) {
            if (!path.entries[i].is_loop() || !path.repeats(i)) continue;
            const Interval w = window(d, i);
            const Symbol v = path.entries[i].name;
            if (!w.is_bounded() || uses_symbol(w.min, v) || uses_symbol(w.max, v)) return i;
        }
        return {};
    }

    std::vector<Fold> find() {
        bool carries = false;
        for (size_t i = 0; i < path.entries.size(); i++) {
            if (!path.entries[i].is_loop() || !path.repeats(i)) continue;
            if (!path.entries[i].is_in_order()) break;
            windows.clear();
            for (size_t d = 0; d < production.dimensions(); d++) windows.push_back(window(d, i));
            for (size_t d = 0; d < production.dimensions(); d++) fold(d, i, carries);
            carries = carries || carries_on(i);
            if (carries && !is_more_wanted()) break;
        }
        std::vector<Fold> all;
        for (size_t d = 0; d < production.dimensions(); d++) {
            if (std::optional<Fold> fold = found[d] ? found[d] : too_small(d)) {
                all.push_back(as_asked_for(*fold));
            }
        }
        return all;
    }

private:
    Fold as_asked_for(Fold fold) const {
        if (const StorageFold *asked = fold_of(production.storage.storage, fold.dim)) {
            fold.var = asked->var;
            fold.written = asked->written;
        }
        return fold;
    }

    // The ends of the region in dimension d during one iteration of the loop.
    Interval window(size_t d, size_t loop) const {
        algebra::IntervalScope scope;
        for (size_t i = loop + 1; i < path.entries.size(); i++) {
            const PathEntry &e = path.entries[i];
            if (e.is_loop() && path.repeats(i)) scope.bind(e.name, range_of(e, scope));
        }
        Expr low = path.expand(production.range(d).min);
        Expr high = path.expand(production.range(d).max);
        return {bounds_of_expr(low, scope).min, bounds_of_expr(high, scope).max};
    }

    Interval range_of(const PathEntry &e, const algebra::IntervalScope &scope) const {
        Interval first = bounds_of_expr(path.expand(e.value), scope);
        Interval last = bounds_of_expr(path.expand(e.value + e.loop_extent - 1), scope);
        return {first.min, last.max};
    }

    // Returns true if the loop walks over the window in one direction.
    bool walks_one_way(const Interval &w, size_t d, size_t loop) const {
        const Symbol v = path.entries[loop].name;
        if (!w.is_bounded() || path.asks_within(w.min, loop) || path.asks_within(w.max, loop)) {
            return false;
        }
        if (!uses_symbol(w.min, v) && !uses_symbol(w.max, v)) return false;
        const Monotonic low = is_monotonic(w.min, v), high = is_monotonic(w.max, v);
        const bool forward = low != Monotonic::Decreasing && high != Monotonic::Decreasing;
        const bool backward = low != Monotonic::Increasing && high != Monotonic::Increasing;
        return low != Monotonic::Unknown && high != Monotonic::Unknown && (forward || backward) &&
               !production.range(d).is_mixed;
    }

    // Returns how many points an iteration computes or reads at most, from the first that it asks
    // for on, if it asks for so many.
    template<typename Count>
    Count rounded(const Count &extent, size_t d, size_t loop) const {
        const int multiple = production.range(d).multiple;
        if (multiple <= 1) return extent;
        if (!is_one_region(d, loop)) return extent + (multiple - 1);
        return (extent + (multiple - 1)) / multiple * multiple;
    }

    // Returns true if the loops further in do not move the region.
    bool is_one_region(size_t d, size_t loop) const {
        const ProducedRange &range = production.range(d);
        return std::ranges::none_of(std::array{range.min, range.max}, [&](const Expr &end) {
            return path.names_loop_within(path.expand(end), loop);
        });
    }

    void fold(size_t d, size_t loop, bool carries) {
        const Expr factor = wanted_factor(production, d);
        if (found[d] || (carries && !factor.defined())) return;
        if (factor.defined() && is_asked_for(d, loop)) return fold_what_is_asked_for(d, loop);
        const int multiple = production.range(d).multiple;
        const bool is_small = multiple != ProducedRange::unknown && multiple <= largest_fold;
        if (!walks_one_way(windows[d], d, loop) || !is_small) return;
        const Expr extent = simplify(windows[d].max - windows[d].min + 1);
        const Symbol v = path.entries[loop].name;
        std::optional<int64_t> most = algebra::constant_upper_bound(extent);
        if (most) most = rounded(*most, d, loop);
        if (!factor.defined()) {
            if (!most || *most <= 0 || *most > largest_fold) return;
            found[d] = Fold{d, int(std::bit_ceil(uint64_t(*most))), {}, loop, v, extent};
            return;
        }
        const Expr points = simplify(rounded(extent, d, loop));
        const auto wanted = as_const_int(factor);
        const bool fit = most && wanted && *most <= *wanted;
        const Expr fits = fit ? const_true() : simplify(points <= factor);
        if (!fit && goes_on_from_its_beginning(production, d)) return;
        Fold fold{d, factor, algebra::can_prove(fits) ? Expr() : fits, loop, v, points};
        if (!is_zero(fits)) {
            found[d] = fold;
        } else {
            failed.push_back(fold);
        }
    }

    // Returns true if an extern stage says in each iteration what is needed.
    bool is_asked_for(size_t d, size_t loop) const {
        const Interval &w = windows[d];
        return w.is_bounded() && (path.asks_within(w.min, loop) || path.asks_within(w.max, loop));
    }

    // Folds storage that each iteration computes anew: nothing is carried on.
    void fold_what_is_asked_for(size_t d, size_t loop) {
        const ProducedRange &range = production.range(d);
        if (!range.is_exact() || range.is_mixed) return;
        const Expr extent = range.max + 1 - range.min;
        const Expr factor = wanted_factor(production, d);
        found[d] = Fold{d, factor, extent <= factor, loop, path.entries[loop].name, extent};
    }

    // Returns the fold that the user wants, although no loop walks over so few points: it fails
    // when it runs.
    std::optional<Fold> too_small(size_t d) const {
        auto first = std::ranges::find(failed, d, &Fold::dim);
        return first == failed.end() ? std::nullopt : std::optional(*first);
    }

    bool is_more_wanted() const {
        for (size_t d = 0; d < production.dimensions(); d++) {
            if (!found[d] && wanted_factor(production, d).defined()) return true;
        }
        return false;
    }

    // Returns true if an iteration may read what one before it has computed. It does not where the
    // windows of each two that follow one another have no points in common.
    bool carries_on(size_t loop) const {
        const Symbol v = path.entries[loop].name;
        const Expr one_before = Variable::make(Int(32), v) - 1;
        bool moves = false;
        for (const Interval &w : windows) {
            const bool is_known =
                w.is_bounded() && !path.asks_within(w.min, loop) && !path.asks_within(w.max, loop);
            moves |= !is_known || uses_symbol(w.min, v) || uses_symbol(w.max, v);
            if (!is_known) continue;
            const Expr first = substitute(v, one_before, w.min);
            const Expr last = substitute(v, one_before, w.max);
            if (algebra::can_prove(last < w.min || w.max < first)) return false;
        }
        return moves || slides.along(loop);
    }

    const Production &production;
    const ProductionPath &path;
    Slides slides;
    std::vector<Interval> windows;  // of one iteration of the loop that is looked at
    std::vector<std::optional<Fold>> found;
    std::vector<Fold> failed;
};

}  // namespace

bool asks_for_fold(const StorageFacts &storage) {
    return std::ranges::any_of(storage.folds, [](const auto &f) { return f.factor.defined(); });
}

const StorageFold *fold_of(const StorageFacts &storage, size_t dim) {
    auto found = std::ranges::find(storage.folds, int(dim), &StorageFold::dim);
    return found == storage.folds.end() ? nullptr : &*found;
}

std::vector<Fold> find_folds(const Production &production) { return FindFolds(production).find(); }

bool goes_on_from_its_beginning(const Production &production, size_t dim) {
    if (!production.computed.produced.in_stages) return false;
    const ProductionPath &path = production.path;
    const Slides slides(production);
    const Expr begin = path.expand(production.range(dim).min);
    for (size_t i = 0; i < path.entries.size(); i++) {
        if (!path.entries[i].is_loop() || !path.repeats(i)) continue;
        const std::optional<Slide> slide = slides.along(i);
        if (!slide || slide->kind != Slide::Kind::Forward || slide->dim != dim) continue;
        const PathEntry &l = path.entries[i];
        algebra::Facts facts;
        facts.between(l.name, l.value, l.value + l.loop_extent - 1);
        return !slide->is_rounded && !path.depends_on_loop(simplify(begin, facts), i);
    }
    return false;
}

std::string why_not_folded(const Production &production, size_t dim) {
    const Symbol func = production.storage.func;
    const Symbol var = fold_of(production.storage.storage, dim)->var;
    const ProducedRange &range = production.range(dim);
    if (range.is_mixed) {
        return str("an update of ", func, " does not compute each point of ", var,
                   " by itself, so that all of them have to be stored; leave fold_storage out");
    }
    if (range.multiple == ProducedRange::unknown) {
        return str("it is not known how far splits, vectors or unrolled loops of ", var,
                   " go beyond what is needed; split it with TailStrategy::GuardWithIf or RoundUp");
    }
    const std::optional<size_t> loop = FindFolds(production).first_along(dim);
    if (!loop) {
        return str("no loop between where ", func,
                   " is stored and where it is computed moves "
                   "along ",
                   var, "; store it outside of such a loop (store_root, store_at)");
    }
    const PathEntry &along = production.path.entries[*loop];
    if (!along.is_in_order()) {
        return str("the loop ", along.name, ", which moves along ", var, ", is ",
                   name_of(along.loop_kind), "; only a serial loop can use storage in turn");
    }
    return str("what the iterations of the loop ", along.name, " need does not move along ", var,
               " in one direction, so that an element may be needed again after others have taken "
               "its place; leave fold_storage out");
}

}  // namespace tessera::lower
