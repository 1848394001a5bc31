#include "lower/nest/regions.h"
#include "algebra/simplify.h"
#include "algebra/solve.h"
#include "base/warning.h"
#include "ir/equal.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/visitor.h"
#include "lower/checks/errors.h"
#include "lower/nest/insertion_points.h"
#include "lower/storage/production_path.h"
#include "program/parameter.h"
#include "program/transform_model.h"
#include <algorithm>

namespace tessera::lower {

using namespace ir;
using algebra::Interval;
using algebra::IntervalScope;
using algebra::simplify;

static void include(Interval &all, const Interval &more) {
    all = {simplify(min(all.min, more.min)), simplify(max(all.max, more.max))};
}

void include(Box &box, const Box &more) {
    if (box.empty()) {
        box = more;
        return;
    }
    for (size_t d = 0; d < box.size(); d++) include(box[d], more[d]);
}

// Returns the expression as the user has written it.
static Expr without_strict_floats(const Expr &e) {
    class Drop final : public Mutator {
        Expr visit(const IntrinsicCall &c) override {
            if (c.op == Intrinsic::strict_float) return (*this)(c.args[0]);
            return Mutator::visit(c);
        }
    };
    return Drop()(e);
}

Interval RegionInference::call_interval(const StageCall &call, size_t d, const IntervalScope &scope,
                                        const StageNest &caller) const {
    Interval i = algebra::bounds_of_expr(call.args[d], scope);
    if (i.is_bounded()) return {simplify(i.min), simplify(i.max)};
    bool own = call.callee == caller.func.name;
    throw CompileError(
        caller.definition.written,
        str(caller.func.name, own ? " is updated" : str(" reads ", call.callee), " at ",
            brief(without_strict_floats(call.args[d])), " in dimension ", d, ", which has no bound",
            i.has_lower_bound()   ? " above"
            : i.has_upper_bound() ? " below"
                                  : "",
            "; clamp() the index, so that it is known how much of ", call.callee, " is needed"));
}

Box RegionInference::call_box(const StageCall &call, const IntervalScope &scope,
                              const StageNest &caller) const {
    Box box;
    for (size_t d = 0; d < call.args.size(); d++) {
        box.push_back(call_interval(call, d, scope, caller));
    }
    return box;
}

// The calls of a stencil share their arguments: each is looked at once in its dimension.
Box RegionInference::box_of_calls(Symbol callee, int dimensions, const Caller &caller,
                                  Reads reads) {
    using Seen = std::unordered_set<Expr, ExprHash, ExprEqual>;
    // Per what has been tested and what is chosen.
    std::map<std::pair<const ExprNode *, const ExprNode *>, std::vector<Seen>> all_seen;
    Box box;
    for (const StageCall &call : caller.nest->calls) {
        if (call.callee != callee) continue;
        if (call.args.size() != size_t(dimensions)) {
            throw InternalError(str(callee, " is called with ", call.args.size(),
                                    " arguments, and has ", dimensions));
        }
        const IntervalScope &scope = scope_of(caller, call.tested, reads);
        const bool may_be_less = reads == Reads::Chosen && call.chosen.defined();
        std::vector<Seen> &seen =
            all_seen[{call.tested.get(), may_be_less ? call.chosen.get() : nullptr}];
        seen.resize(size_t(dimensions));
        const bool is_first = box.empty();
        for (size_t d = 0; d < seen.size(); d++) {
            if (!seen[d].insert(call.args[d]).second) continue;
            Interval i = call_interval(call, d, scope, *caller.nest);
            if (may_be_less) i = chosen_part(call, d, caller, i);
            if (is_first)
                box.push_back(i);
            else
                include(box[d], i);
        }
    }
    return box;
}

namespace {

// The values of a variable for which the condition can hold, whatever the others are.
Interval values_left(const Expr &condition, Symbol var, const IntervalScope &scope) {
    const Interval holds = algebra::solve_for_outer_interval(condition, var);
    if (holds.is_nothing()) return Interval::everything();
    IntervalScope others = scope;
    others.unbind(var);
    Interval left;
    if (holds.has_lower_bound()) left.min = bounds_of_expr(holds.min, others).min;
    if (holds.has_upper_bound()) left.max = bounds_of_expr(holds.max, others).max;
    return left;
}

// The values of the range that are left; one at its end if none is. So it never leaves the range.
Interval narrowed_to(const Interval &range, const Interval &left) {
    Interval narrow = range;
    if (left.min.defined()) narrow.min = simplify(min(max(range.min, left.min), range.max));
    if (left.max.defined()) narrow.max = simplify(max(min(range.max, left.max), range.min));
    return narrow;
}

bool same(const Expr &a, const Expr &b) {
    return a.defined() == b.defined() && (!a.defined() || equal(a, b));
}
bool is_deep(const Expr &end) { return end->depth > 16; }
bool same(const Interval &a, const Interval &b) { return same(a.min, b.min) && same(a.max, b.max); }

}  // namespace

// Queries about an interval are about its ends: they are not to be searched again and again.
Interval RegionInference::named_if_deep(Symbol var, Interval i) {
    for (Expr *end : {&i.min, &i.max}) {
        if (end->defined() && is_deep(*end)) *end = bind(Symbol::fresh(str(var, ".end")), *end);
    }
    return i;
}

const RegionInference::Choice &RegionInference::choice_of(const StageCall &call,
                                                          const Caller &caller) {
    const std::tuple key{caller.nest.get(), call.tested.get(), call.chosen.get()};
    auto found = choices.find(key);
    if (found != choices.end()) return found->second;
    const IntervalScope &scope = scope_of(caller, call.tested, Reads::Chosen);
    Choice choice{scope, scope, scope};
    for (const auto &[var, range] : scope.all()) {
        if (!range.is_bounded() || same(range.min, range.max)) continue;
        const Interval left = named_if_deep(var, values_left(call.chosen, var, scope));
        if (left.is_everything()) continue;
        choice.scope.bind(var, named_if_deep(var, narrowed_to(range, left)));
        choice.left.bind(var, left);
        choice.any.bind(var, Interval::everything());
    }
    return choices.emplace(key, std::move(choice)).first->second;
}

// Nothing is won by a condition that says no more than the index itself, as that of a boundary
// condition. Loops that are to be of constant extents stay so.
Interval RegionInference::chosen_part(const StageCall &call, size_t d, const Caller &caller,
                                      const Interval &all) {
    const Choice &choice = choice_of(call, caller);
    const Expr &arg = call.args[d];
    if (same(bounds_of_expr(arg, choice.left), bounds_of_expr(arg, choice.any))) return all;
    Interval part = bounds_of_expr(arg, choice.scope);
    if (!part.is_bounded()) return all;
    part = {simplify(part.min), simplify(part.max)};
    if (same(part, all)) return all;
    const bool is_constant = is_const(simplify(all.max - all.min));
    const bool stays_constant = is_const(simplify(part.max - part.min));
    if (is_constant && !stays_constant && needs_constant_extents(call.callee)) return all;
    narrowed.insert(call.callee);
    return part;
}

bool RegionInference::needs_constant_extents(Symbol func) const {
    for (const program::DefinitionRef &stage : context.function(func)->stages) {
        for (const program::Definition *version : versions_of(*stage)) {
            if (!version->schedule.transforms.empty()) return true;
            for (const program::Loop &l : version->schedule.loops) {
                if (traits_of(l.kind).needs_constant_extent) return true;
            }
        }
    }
    return false;
}

// The ranges of a stage's variables at the insertion point that is known of it; none if none is.
static IntervalScope box_at(const std::unordered_map<const StageNest *, InsertionPoint> &known,
                            const StageNest &nest) {
    auto found = known.find(&nest);
    return found == known.end() ? IntervalScope() : nest.box(found->second.fixed());
}

// Points that the predicate leaves out read nothing: each variable is taken to the range in which
// the predicate can hold, whatever the others are. But where functions are computed for each of its
// values, or for some of them at a time, they are so for those without a point, too. (What is not
// stored for several runs is computed only where something reads it, see skip_stages.h.)
IntervalScope RegionInference::complete(IntervalScope scope, const StageNest &nest,
                                        const Expr &tested) const {
    scope.call_bounds = values.as_callback();
    if (!tested.defined()) return scope;
    const bool is_read_within = built.innermost_insertion_points.contains(&nest);
    const IntervalScope innermost = box_at(built.innermost_insertion_points, nest);
    const IntervalScope kept = box_at(built.innermost_kept, nest);
    auto is_divided = [&](Symbol var, const Interval &range) {
        const Interval *one = innermost.find(var), *some = kept.find(var);
        if (nest.is_fixed(range) || (one && nest.is_fixed(*one))) return true;
        return some && nest.moves(*some) && !same(range, *some);
    };
    for (Symbol var : nest.func.args) {
        const Interval *range = scope.find(var);
        if (!range || !range->is_bounded() || is_divided(var, *range)) continue;
        const Interval narrow = narrowed_to(*range, values_left(tested, var, scope));
        if (!is_deep(narrow.min) && !is_deep(narrow.max)) scope.bind(var, narrow);
    }
    for (const program::ReductionVariable &r : nest.definition.reduction) {
        Interval range = *scope.find(r.var);
        if (is_divided(r.var, range)) continue;
        const Interval left = values_left(tested, r.var, scope);
        if (is_read_within) {
            range = narrowed_to(range, left);
        } else {
            if (left.min.defined()) range.min = simplify(max(range.min, left.min));
            if (left.max.defined()) range.max = simplify(min(range.max, left.max));
        }
        scope.bind(r.var, range);
    }
    return scope;
}

const IntervalScope &RegionInference::scope_of(const Caller &caller, const Expr &tested,
                                               Reads reads) {
    const std::tuple key{caller.nest.get(), tested.get(), reads};
    auto found = scopes.find(key);
    if (found != scopes.end()) return found->second;
    IntervalScope scope;
    if (caller.nest.get() == insertion_point.owner) {
        scope = caller.nest->box(insertion_point.fixed());
    } else {
        const Symbol func = caller.nest->func.name;
        const std::vector<StageRegion> &all =
            reads == Reads::All ? whole_regions(func) : stage_regions(func);
        const StageRegion &r = all.at(size_t(caller.nest->stage));
        scope = caller.nest->box_over(r.min, rounded_max(*caller.nest, r));
    }
    scope = complete(std::move(scope), *caller.nest, tested);
    return scopes.emplace(key, std::move(scope)).first->second;
}

Box RegionInference::required(Symbol callee, int dimensions, Reads reads) {
    Box box;
    for (const Caller &caller : callers.of(callee)) {
        if (caller.is_extern()) {
            include(box, query_of(caller.nest->func).inputs.at(callee));
            continue;
        }
        if (caller.nest->func.name == callee) continue;
        const Box read = box_of_calls(callee, dimensions, caller, reads);
        if (!read.empty()) include(box, read);
        const bool less = reads == Reads::Chosen && narrowed.contains(caller.nest->func.name);
        if (less && caller.nest.get() != insertion_point.owner) narrowed.insert(callee);
    }
    return box;
}

// Return true if a region with a later min, but the same max, may be computed further.
static bool may_round_further(const program::FunctionContents &f) {
    for (const program::DefinitionRef &stage : f.stages) {
        for (const program::Definition *version : versions_of(*stage)) {
            for (const auto &transform : version->schedule.transforms) {
                if (!model_of(transform.directive)->tail().leaves_out) return true;
            }
        }
    }
    return false;
}

// Storage holds what is read if it is kept over iterations, or if C code or another thread gets it.
// It is as large as the region that is computed, after that has been rounded up.
RegionInference::Reads RegionInference::wanted_of(Symbol func) const {
    const program::FunctionContents &f = *context.function(func);
    const bool is_told = context.is_output(func) || f.has_extern_definition() ||
                         context.is_read_by_extern(func) || f.schedule.async;
    const bool all = is_told || is_stored_outside(f) || built.index_sources.contains(func) ||
                     may_round_further(f);
    return all ? Reads::All : Reads::Chosen;
}

Box RegionInference::written(const StageNestRef &owner) {
    const program::Definition &d = owner->definition;
    const IntervalScope &scope = scope_of({owner}, d.predicate, Reads::All);
    return call_box({owner->func.name, d.args, {}}, scope, *owner);
}

const std::vector<StageRegion> &RegionInference::stage_regions(Symbol func) {
    auto found = regions.find(func);
    if (found != regions.end()) return found->second;
    return regions[func] = find_stage_regions(func, false);
}

std::vector<StageRegion> RegionInference::bind_computed(Symbol func) {
    regions[func] = find_stage_regions(func, true);
    const program::FunctionContents &f = *context.function(func);
    if (f.has_extern_definition() && is_asked(f)) query_of(f);
    return regions[func];
}

// Returns what is wanted of the function here: what others read, and all of an output's buffer.
Box RegionInference::needed_of(const program::FunctionContents &func) {
    Box box = required(func.name, func.dimensions(), wanted_of(func.name));
    if (!context.is_output(func.name)) return box;
    Symbol buffer = context.buffer_of(func.name, 0);
    Box whole;
    for (int d = 0; d < func.dimensions(); d++) {
        Expr first = BufferProperty::make(buffer, BufferField::Min, d);
        Expr extent = BufferProperty::make(buffer, BufferField::Extent, d);
        whole.push_back({first, first + extent - 1});
    }
    include(box, whole);
    return box;
}

const std::vector<StageRegion> &RegionInference::whole_regions(Symbol func) {
    const std::vector<StageRegion> &computed = stage_regions(func);
    if (!narrowed.contains(func)) return computed;
    auto found = whole.find(func);
    if (found != whole.end()) return found->second;
    const program::FunctionContents &f = *context.function(func);
    Box box = required(func, f.dimensions(), Reads::All), aligned = box;
    apply_bounds(f, aligned, false);
    include(box, aligned);
    std::vector<StageRegion> all(f.stages.size());
    for (size_t s = f.stages.size(); s-- > 0;) {
        for (size_t d = 0; d < box.size(); d++)
            include(box[d], {computed[s].min[d], computed[s].max[d]});
        if (s + 1 == f.stages.size()) cover_further_in(func, box);
        all[s] = bind(f, int(s), box, false);
        box.clear();
        for (size_t d = 0; d < all[s].min.size(); d++)
            box.push_back({all[s].min[d], all[s].max[d]});
        include_own_reads(func, int(s), all[s], box);
    }
    return whole.emplace(func, std::move(all)).first->second;
}

std::vector<StageRegion> RegionInference::find_stage_regions(Symbol func, bool computed_here) {
    if (computed_here) is_computed_here.insert(func);
    const program::FunctionContents &f = *context.function(func);
    Box box = needed_of(f);
    if (int(box.size()) != f.dimensions()) {
        throw InternalError(str("the region of ", func, " is asked for where nothing reads it"));
    }
    apply_bounds(f, box, computed_here);
    if (!computed_here) cover_further_in(func, box);
    const bool enlarges = f.has_extern_definition() && is_asked(f) && may_enlarge(f, context);
    if (enlarges) box = enlarged(f, box);
    include_beginning_of_scans(f, box);
    std::vector<StageRegion> found(f.stages.size());
    for (int s = int(f.stages.size()) - 1; s >= 0; s--) {
        found[size_t(s)] = bind(f, s, box, computed_here);
        box.clear();
        for (size_t d = 0; d < found[size_t(s)].min.size(); d++) {
            box.push_back({found[size_t(s)].min[d], found[size_t(s)].max[d]});
        }
        include_own_reads(func, s, found[size_t(s)], box);
    }
    return found;
}

// Elements of its own function that the stage reads must have been computed by the stages before
// it. Those that a scan reads before its region are already final.
void RegionInference::include_own_reads(Symbol func, int stage, const StageRegion &region,
                                        Box &box) {
    for (const StageNestRef &nest : built.stages.at(func).at(size_t(stage))) {
        std::vector<Expr> last = rounded_max(*nest, region);
        const IntervalScope whole = nest->box_over(region.min, last);
        for (const StageCall &call : nest->calls) {
            if (call.callee != func) continue;
            Box read = call_box(call, complete(whole, *nest, call.tested), *nest);
            for (size_t d = 0; d < read.size(); d++) {
                if (scan_along(nest->func, int(d))) read[d] = {region.min[d], region.max[d]};
            }
            include(box, read);
        }
    }
}

// A point of a scan is made of all that are before it.
void RegionInference::include_beginning_of_scans(const program::FunctionContents &f, Box &box) {
    for (size_t d = 0; d < box.size(); d++) {
        const std::optional<Scan> scan = scan_along(f, int(d));
        if (scan) box[d].min = simplify(min(box[d].min, scan->first));
    }
}

namespace {

// A directive that says how many points are computed, but not where they begin: each run of a
// function that is computed further in begins anew.
bool moves_only_max(const program::BoundDirective &bound) {
    return (bound.extent.defined() && !bound.min.defined()) ||
           (bound.modulus.defined() && !bound.remainder.defined());
}

}  // namespace

bool RegionInference::is_known_here(const Expr &e) const {
    bool known = true;
    for_each_node(e, [&](const ir::Variable &v) {
        known &= !built.lets.contains(v.name) && !built.loops.contains(v.name);
    });
    return known;
}

// The value, with the lets of the insertion point put in, if it depends on parameters at most; or
// undefined.
Expr RegionInference::fixed_value(const Expr &e) const {
    Expr known = simplify(substitute(fixed, e));
    bool all = true;
    for_each_node(known, [&](const ir::Variable &v) {
        all &= dynamic_cast<const program::Parameter *>(v.referent.get()) != nullptr;
    });
    for_each_node(known, [&](const BufferProperty &) { all = false; });
    for_each_node(known, [&](const Call &) { all = false; });
    return all ? known : Expr();
}

// Returns true if the interval is another one in other iterations of the loops around the insertion
// point.
bool RegionInference::follows_insertion_point(const Interval &i) {
    if (!insertion_point.owner) return false;
    Origins loops{[&](Symbol s) {
                      const auto &all = insertion_point.owner->loops;
                      auto is_it = [&](const StageNest::Loop &l) { return l.symbol == s; };
                      return std::any_of(all.begin() + insertion_point.fixed(), all.end(), is_it);
                  },
                  {}};
    return follows(i.min, loops) || follows(i.max, loops);
}

void RegionInference::warn_of_repetition(const program::FunctionContents &f, Symbol var,
                                         const Location &at) const {
    const StageNest &owner = *insertion_point.owner;
    warn(at, str("bound of ", f.name, " along ", var,
                 " says what is computed at once: each "
                 "iteration of the loop ",
                 owner.loops[size_t(insertion_point.fixed())].var, " of ", owner.func.name,
                 " computes all of it, although it reads less; drop the bound, "
                 "or compute ",
                 f.name, " further out"));
}

// The user's bound, bound_extent, align_bounds and align_extent.
void RegionInference::apply_bounds(const program::FunctionContents &f, Box &box,
                                   bool computed_here) {
    for (const auto &[bound, at, order] : f.schedule.bounds) {
        auto arg = std::find(f.args.begin(), f.args.end(), bound.var);
        if (arg == f.args.end()) continue;
        int d = int(arg - f.args.begin());
        Interval &i = box[size_t(d)];
        Interval required = i;
        if (!computed_here && moves_only_max(bound)) {
            // No run begins outside of what is required, whatever is known of where it does.
            Expr count = bound.modulus.defined() ? bound.modulus : bound.extent;
            Expr latest = i.max + cast(Int(32), count) - 1;
            Interval covered = covered_further_in(f.name, d);
            if (!covered.is_bounded()) covered = {i.min, latest};
            i = {simplify(max(covered.min, i.min)), simplify(min(covered.max, latest))};
            continue;
        }
        if (bound.modulus.defined() && bound.remainder.defined()) {
            // Each end by itself, and as a quotient: then it is seen to follow what it is made of.
            Expr m = cast(Int(32), bound.modulus), r = cast(Int(32), bound.remainder);
            i = {simplify((i.min - r) / m * m + r), simplify((i.max - r + m) / m * m + (r - 1))};
        } else if (bound.modulus.defined()) {
            Expr m = cast(Int(32), bound.modulus);
            i.max = simplify((i.max - i.min + m) / m * m + i.min - 1);
        }
        if (!bound.extent.defined()) continue;
        if (bound.min.defined()) i.min = cast(Int(32), bound.min);
        i.max = simplify(i.min + cast(Int(32), bound.extent) - 1);
        if (!computed_here) continue;
        if (bound.min.defined() && follows_insertion_point(required))
            warn_of_repetition(f, bound.var, at);
        asserts.push_back(
            AssertStmt::make(simplify(required.min >= i.min && required.max <= i.max),
                             error_explicit_bounds_too_small(at, f.name, bound.var, i, required)));
    }
}

Expr RegionInference::bind(Symbol symbol, const Expr &value) {
    lets.push_back({symbol, value});
    let_values[symbol] = value;
    moving[symbol] = moves(value);
    Expr known = fixed_value(value);
    if (known.defined()) fixed[symbol] = known;
    return Variable::make(Int(32), symbol);
}

// Coordinates follow those of outputs, which are checked when the pipeline begins; but a scalar
// argument, or a float that was cast, may be any number. (Those of the root are checked then, too.)
void RegionInference::check_coordinate(Symbol symbol, const Expr &end) {
    if (!insertion_point.owner) return;
    bool may_be_any = false;
    for_each_node(end, [&](const ir::Variable &v) {
        may_be_any |= dynamic_cast<const program::Parameter *>(v.referent.get()) != nullptr;
    });
    for_each_node(end, [&](const IntrinsicCall &c) { may_be_any |= is_float_made_integer(c); });
    if (!may_be_any) return;
    CoordinateChecks checks;
    checks.require(symbol.text(), end);
    asserts.insert(asserts.end(), checks.asserts.begin(), checks.asserts.end());
}

// Gives the region names, so that what is built on it stays small. The distance from min to max is
// often constant; then it is written so, and loops over the region have constant extents; but not
// where a sliding window may move one end of it.
StageRegion RegionInference::bind(const program::FunctionContents &f, int stage, const Box &box,
                                  bool computed_here) {
    StageRegion r;
    for (size_t d = 0; d < box.size(); d++) {
        Symbol min_symbol, max_symbol;
        if (computed_here) {
            const RegionSymbols &symbols = built.region_symbols.at(f.name).at(size_t(stage));
            min_symbol = symbols.min[d];
            max_symbol = symbols.max[d];
        } else {
            min_symbol = Symbol::fresh(str(f.name, ".", f.args[d], ".min_needed"));
            max_symbol = Symbol::fresh(str(f.name, ".", f.args[d], ".max_needed"));
        }
        Expr first = bind(min_symbol, box[d].min);
        Expr extent = simplify(box[d].max - box[d].min);
        std::optional<int64_t> multiple = granularity(f, int(d));
        bool may_slide = computed_here && is_stored_outside(f) && multiple &&
                         (moves(box[d].min) || moves(box[d].max));
        const auto works_in_order = [&] {
            return is_pure_in_all_stages(f, int(d)) || scan_along(f, int(d));
        };
        if (may_slide && *multiple == 1 && works_in_order())
            note_sliding(f, int(d), min_symbol, max_symbol, box[d]);
        if (!is_const(extent)) {
            check_coordinate(min_symbol, box[d].min);
            check_coordinate(max_symbol, box[d].max);
        }
        if (!is_const(extent) || may_slide) {
            r.min.push_back(first);
            r.max.push_back(bind(max_symbol, box[d].max));
            continue;
        }
        if (is_const(box[d].min)) first = box[d].min;
        r.min.push_back(first);
        r.max.push_back(first + extent);
        bind(max_symbol, first + extent);
    }
    return r;
}

namespace {

// Adds up boxes. Ends that are one by the lets count once: hundreds of updates of a function touch
// what the first of them does.
class BoxUnion {
public:
    BoxUnion(const std::vector<Binding> &lets,
             const std::unordered_map<Symbol, BuiltPipeline::Sliding> &sliding) {
        for (const auto &[symbol, value] : lets) {
            if (value.as<ir::Variable>() && !sliding.contains(symbol)) names[symbol] = value;
        }
    }
    Box box;

    void add(const Box &more) {
        seen.resize(std::max(seen.size(), more.size()));
        if (box.empty()) box = more;
        for (size_t d = 0; d < more.size(); d++) {
            bool is_new = seen[d].first.insert(named(more[d].min)).second;
            is_new |= seen[d].second.insert(named(more[d].max)).second;
            if (is_new) include(box[d], more[d]);
        }
    }

private:
    Expr named(Expr end) const {
        while (const auto *v = end.as<ir::Variable>()) {
            auto found = names.find(v->name);
            if (found == names.end()) break;
            end = found->second;
        }
        return end;
    }
    using Seen = std::unordered_set<Expr, ExprHash, ExprEqual>;
    std::unordered_map<Symbol, Expr> names;
    std::vector<std::pair<Seen, Seen>> seen;  // per dimension
};

}  // namespace

Box RegionInference::touched(Symbol func) {
    const program::FunctionContents &f = *context.function(func);
    const std::vector<StageRegion> &all = whole_regions(func);
    BoxUnion together(lets, sliding);
    for (size_t s = 0; s < all.size(); s++) {
        for (const StageNestRef &nest : built.stages.at(func).at(s)) {
            Box written;
            std::vector<Expr> last = rounded_max(*nest, all[s]);
            IntervalScope scope =
                complete(nest->box_over(all[s].min, last), *nest, nest->definition.predicate);
            for (size_t d = 0; d < f.args.size(); d++) written.push_back({all[s].min[d], last[d]});
            together.add(written);
            if (s == 0) continue;
            together.add(call_box({func, f.stages[s]->args, {}}, scope, *nest));
        }
    }
    for (Interval &i : together.box) i = {simplify(i.min), simplify(i.max)};
    return together.box;
}

}  // namespace tessera::lower
