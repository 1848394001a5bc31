#include "algebra/bounds.h"
#include "algebra/prove.h"
#include "algebra/simplify.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "lower/nest/regions.h"
#include "lower/storage/production_path.h"

// Finds where the runs of stages that are computed further in than an insertion point begin and
// end, in terms of what is known at the insertion point.
namespace tessera::lower {

using namespace ir;
using algebra::bounds_of_expr;
using algebra::Interval;
using algebra::IntervalScope;
using algebra::simplify;

// Returns the part that a stage's predicate leaves of the range of one of its variables.
Interval RegionInference::left_by_predicate(const BuiltPipeline::Predicated &variable) {
    const StageNest &nest = *variable.nest;
    const IntervalScope whole = nest.box(int(nest.loops.size()));
    const Interval left = *complete(whole, nest, nest.definition.predicate).find(variable.var);
    return {bounds_of_expr(left.min, inner_scope(left.min)).min,
            bounds_of_expr(left.max, inner_scope(left.max)).max};
}

const Interval *RegionInference::inner_values(Symbol symbol) {
    auto known = inner.find(symbol);
    if (known != inner.end()) return &known->second;
    auto let = built.lets.find(symbol);
    auto loop = built.loops.find(symbol);
    Interval values;
    if (let != built.lets.end()) {
        values = bounds_of_expr(let->second, inner_scope(let->second));
    } else if (loop != built.loops.end()) {
        const auto &[first, last] = loop->second;
        values = {bounds_of_expr(first, inner_scope(first)).min,
                  bounds_of_expr(last, inner_scope(last)).max};
    } else {
        return nullptr;
    }
    auto passes = built.lasts.find(symbol);
    if (passes != built.lasts.end()) {
        const Expr last = bounds_of_expr(passes->second, inner_scope(passes->second)).max;
        if (last.defined()) {
            values.max = values.max.defined() ? simplify(min(values.max, last)) : last;
        }
    }
    auto predicated = built.predicated.find(symbol);
    if (predicated != built.predicated.end()) {
        values = make_intersection(values, left_by_predicate(predicated->second));
        for (Expr *end : {&values.min, &values.max}) {
            if (end->defined()) *end = simplify(*end);
        }
    }
    auto slides = built.sliding.find(symbol);
    if (slides != built.sliding.end() && values.max.defined()) {
        const auto &[last, beyond] = slides->second;
        const Expr end = inner_values(last)->max;
        values.max = end.defined() ? simplify(max(values.max, end + beyond)) : Expr();
    }
    // The answer of a bounds query further in is not known here.
    for (Expr *end : {&values.min, &values.max}) {
        bool known_here = true;
        auto look = [&](const BufferProperty &p) { known_here &= !built.lets.count(p.buffer); };
        if (end->defined()) for_each_node(*end, look);
        if (!known_here) *end = Expr();
    }
    return &(inner[symbol] = values);
}

IntervalScope RegionInference::inner_scope(const Expr &e) {
    IntervalScope scope;
    for_each_node(e, [&](const ir::Variable &v) {
        if (const Interval *i = inner_values(v.name)) scope.bind(v.name, *i);
    });
    return scope;
}

namespace {

// The ends of a region, each of them somewhere in the other.
IntervalScope within(const StageRegion &part, const StageRegion &whole) {
    IntervalScope scope;
    for (size_t d = 0; d < part.min.size(); d++) {
        for (const Expr &end : {part.min[d], part.max[d]}) {
            const auto *v = end.as<ir::Variable>();
            if (v) scope.bind(v->name, {whole.min[d], whole.max[d]});
        }
    }
    return scope;
}

// The earlier one of `last` and of what lies so far beyond `max`; undefined: nothing is known.
Expr earlier(const Expr &last, const Expr &max, const Expr &beyond) {
    if (!max.defined()) return last;
    Expr other = simplify(max + beyond);
    if (!last.defined() || algebra::can_prove(other <= last)) return other;
    return algebra::can_prove(last <= other) ? last : simplify(min(last, other));
}

}  // namespace

bool RegionInference::follows(const Expr &e, Origins &origins) {
    bool found = false;
    for_each_node(e, [&](const ir::Variable &v) {
        if (found) return;
        auto [known, is_new] = origins.known.try_emplace(v.name, origins.includes(v.name));
        found = known->second;
        if (found || !is_new) return;
        auto let = built.lets.find(v.name);
        if (let != built.lets.end()) found = follows(let->second, origins);
        origins.known[v.name] = found;
    });
    return found;
}

bool RegionInference::moves(const Expr &e) {
    bool any = false;
    for_each_node(e, [&](const ir::Variable &v) {
        const auto *parameter = dynamic_cast<const program::Parameter *>(v.referent.get());
        any = any || (!parameter && moves(v.name));
    });
    for_each_node(e, [&](const BufferProperty &) { any = true; });
    for_each_node(e, [&](const Call &) { any = true; });
    return any;
}

bool RegionInference::moves(Symbol variable) {
    auto [known, is_new] = moving.try_emplace(variable, true);
    if (!is_new || !insertion_point.owner) return known->second;
    const Substitution bounded = bounded_region(*insertion_point.owner);
    bool found = true;
    if (auto end = bounded.find(variable); end != bounded.end()) {
        found = moves(end->second);
    } else {
        const auto &loops = insertion_point.owner->loops;
        const auto loop = std::ranges::find(loops, variable, &StageNest::Loop::symbol);
        if (loop != loops.end())
            found = !is_one(simplify(substitute(bounded, loop->extent))) || moves(loop->min);
    }
    return moving[variable] = found;
}

// Returns the ends of the stage's region along the dimensions of which `bound` says all.
Substitution RegionInference::bounded_region(const StageNest &nest) const {
    const program::FunctionContents &f = nest.func;
    Substitution ends;
    if (nest.stage + 1 != int(f.stages.size())) return ends;
    const RegionSymbols &symbols = built.region_symbols.at(f.name).at(size_t(nest.stage));
    for (size_t d = 0; d < f.args.size(); d++) {
        std::vector<const program::BoundDirective *> all;
        for (const auto &[bound, at, order] : f.schedule.bounds) {
            if (bound.var == f.args[d]) all.push_back(&bound);
        }
        if (all.size() != 1 || !all[0]->min.defined() || !all[0]->extent.defined()) continue;
        const Expr min = cast(Int(32), all[0]->min), extent = cast(Int(32), all[0]->extent);
        ends[symbols.min[d]] = simplify(min);
        ends[symbols.max[d]] = simplify(min + extent - 1);
    }
    return ends;
}

namespace {

bool has_unknown_quotient(const Expr &e) {
    bool found = false;
    for_each_node(e, [&](const Div &quotient) { found |= !is_const(quotient.b); });
    return found;
}

}  // namespace

// Returns how many points a region further in has at most, where its ends are quotients by a
// divisor that is not known: the bounds of each end by itself do not tell that. Returns nothing
// otherwise.
std::optional<int64_t> RegionInference::most_points(const Interval &ends) const {
    constexpr int levels_of_lets = 4, deepest = 50;
    Expr extent = simplify(ends.max - ends.min + 1);
    for (int i = 0; i < levels_of_lets && extent->depth <= deepest; i++) {
        Substitution values;
        for_each_node(extent, [&](const ir::Variable &v) {
            auto let = built.lets.find(v.name);
            if (let != built.lets.end()) values.emplace(v.name, let->second);
        });
        if (values.empty()) break;
        extent = simplify(substitute(values, extent));
    }
    if (extent->depth > deepest || !has_unknown_quotient(extent)) return {};
    return algebra::constant_upper_bound(extent);
}

Expr RegionInference::latest_end(const StageNest &nest, int d, const StageRegion &there,
                                 const StageRegion &here) {
    auto latest = [&](const Expr &end) {
        Expr last = bounds_of_expr(end, inner_scope(end)).max;
        return last.defined() ? last : bounds_of_expr(end, within(there, here)).max;
    };
    Expr last = latest(nest.rounded_max(d, there));
    if (!follows(there.min[size_t(d)], sliding_ends)) {
        if (!nest.rounds_simply()) return last;
        const Expr &first = there.min[size_t(d)], &end = there.max[size_t(d)];
        last = earlier(last, latest(end), nest.most_beyond_max(d));
        const std::optional<int64_t> most = most_points({first, end});
        if (!most || *most < 1 || *most > INT16_MAX) return last;
        StageRegion longest = there;
        longest.max[size_t(d)] = first + int(*most - 1);
        return earlier(last, latest(nest.rounded_max(d, longest)), 0);
    }
    // The rest of the region may be any part at its end. One point goes the furthest beyond it
    // where the stage is rounded up to a multiple; by one more, where that is one of a fused loop.
    StageRegion point = there;
    point.min[size_t(d)] = there.max[size_t(d)];
    return latest(nest.rounded_max(d, point) + 1);
}

// The latest end of any run of a stage that is computed further in; undefined where one is unknown.
Expr RegionInference::latest_run(const StageNest &nest, int d, const StageRegion &region) {
    Expr last = region.max[size_t(d)];
    for (const std::vector<StageRegion> &run : built.regions.at(nest.func.name)) {
        Expr latest = latest_end(nest, d, run.at(size_t(nest.stage)), region);
        if (!latest.defined()) return {};
        last = simplify(max(last, latest));
    }
    return last;
}

// A stage that is computed further in rounds up there, each time anew: the last of these regions
// may end later than the rounded region of all of them, or earlier.
std::vector<Expr> RegionInference::rounded_max(const StageNest &nest, const StageRegion &region) {
    std::vector<Expr> all;
    Symbol func = nest.func.name;
    bool further_in = !is_computed_here.contains(func) && built.regions.contains(func);
    for (size_t d = 0; d < region.min.size(); d++) {
        Expr last = nest.rounded_max(int(d), region);
        if (further_in && nest.rounds(int(d))) {
            Expr latest = latest_run(nest, int(d), region);
            if (latest.defined()) last = latest;
        }
        if (!is_one(nest.condition) && nest.rounds(int(d))) {
            last = select(nest.condition, last, region.max[d]);
        }
        all.push_back(last);
    }
    return all;
}

// Returns what a function that is computed further in covers there in dimension d, all its runs
// together.
Interval RegionInference::covered_further_in(Symbol func, int d) {
    Interval all = Interval::nothing();
    auto runs = built.regions.find(func);
    if (runs == built.regions.end()) return Interval::everything();
    for (const std::vector<StageRegion> &run : runs->second) {
        const Expr &first = run.back().min[size_t(d)], &last = run.back().max[size_t(d)];
        all = make_union(all, {bounds_of_expr(first, inner_scope(first)).min,
                               bounds_of_expr(last, inner_scope(last)).max});
    }
    return all;
}

// Facts that are known here but not further in, such as a condition, must not make the region
// smaller than what is computed there. Only constants tell for sure what that is: an interval of
// what changes with loops may be too wide. (Here it may depend on a parameter, which decides which
// specialization is run and how it rounds.)
void RegionInference::cover_further_in(Symbol func, Box &box) {
    auto runs = built.regions.find(func);
    if (runs == built.regions.end()) return;
    for (size_t d = 0; d < box.size(); d++) {
        bool known_here = fixed_value(box[d].min).defined() && fixed_value(box[d].max).defined();
        bool known_there = true;
        for (const std::vector<StageRegion> &run : runs->second) {
            known_there &= is_const(run.back().min[d]) && is_const(run.back().max[d]);
        }
        bool rounds = is_rounded_further_in(func);
        if (!known_here && !known_there && !rounds) continue;
        Interval covered = covered_further_in(func, int(d));
        if (!covered.is_bounded()) continue;
        bool are_constants = is_const(covered.min) && is_const(covered.max);
        bool are_known = is_known_here(covered.min) && is_known_here(covered.max);
        if (!are_constants && !(rounds && are_known)) continue;
        box[d] = algebra::make_union(box[d], covered);
        box[d] = {simplify(box[d].min), simplify(box[d].max)};
    }
}

// Returns true if what reads the function rounds fused loops; or, of a function that is stored for
// several runs, rounds loops and fuses what they are made of: no end is known then that holds for
// all of its runs. (What is not stored has no storage to be as large, and inputs are not to be.)
bool RegionInference::is_rounded_further_in(Symbol func) {
    const bool is_kept = is_stored_outside(*context.function(func));
    for (const Caller &caller : callers.of(func)) {
        const StageNest &nest = *caller.nest;
        if (nest.rounds_fused()) return true;
        bool rounds = false;
        for (size_t d = 0; d < nest.func.args.size(); d++) rounds |= nest.rounds(int(d));
        if (is_kept && rounds && nest.fuses()) return true;
    }
    return false;
}

}  // namespace tessera::lower
