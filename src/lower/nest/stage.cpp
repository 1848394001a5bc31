#include "lower/nest/stage.h"
#include "algebra/simplify.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "lower/loops/likely.h"
#include "lower/nest/evaluation.h"
#include "lower/nest/tail.h"
#include "program/define.h"
#include <algorithm>

namespace tessera::lower {

using namespace ir;
using algebra::Interval;
using algebra::IntervalScope;
using algebra::simplify;
using program::overloaded;

namespace {

std::vector<Expr> conjuncts(const Expr &e) {
    std::vector<Expr> all, stack{e};
    while (!stack.empty()) {
        Expr next = stack.back();
        stack.pop_back();
        if (const And *both = next.as<And>()) {
            stack.push_back(both->b);
            stack.push_back(both->a);
        } else {
            all.push_back(next);
        }
    }
    return all;
}

bool has_call(const Expr &e) {
    bool found = false;
    for_each_node(e, [&](const ir::Call &) { found = true; });
    return found;
}

// ceil(n / factor), where n + factor may be too large
Expr ceil_div(const Expr &n, const Expr &factor) { return (n - 1) / factor + 1; }

}  // namespace

namespace {

// What is known of a condition in terms of coordinates; undefined where that is nothing.
Expr told_by_coordinates(const Expr &condition) {
    if (is_true(condition)) return {};
    const Expr known = weakened(condition, [](const Expr &part) {
        return reads_memory(part) ? const_true() : remove_likely(part);
    });
    return is_true(known) ? Expr() : known;
}

}  // namespace

// A predicate is tested from left to right, but for what reads no function, which comes first.
std::vector<StageCall> calls_of(const program::Definition &def) {
    std::vector<StageCall> calls;
    std::unordered_map<const ExprNode *, Expr> known;  // of conditions, many of which are the same
    auto collect = [&](const Expr &e, const Expr &tested) {
        const std::vector<Evaluated> nodes = evaluation_of(e);
        for (const Evaluated &node : nodes) {
            const auto *c = node.expr.as<ir::Call>();
            if (!c) continue;
            auto [chosen, is_new] = known.try_emplace(node.when.get());
            if (is_new) chosen->second = told_by_coordinates(node.when);
            calls.push_back({c->callee, c->args, tested, chosen->second});
        }
        known.clear();
    };
    for (const Expr &e : def.values) collect(e, def.predicate);
    for (const Expr &e : def.args) collect(e, def.predicate);
    if (!def.predicate.defined()) return calls;
    Expr tested;
    auto also = [&](const Expr &c) { tested = tested.defined() ? tested && c : c; };
    const std::vector<Expr> all = conjuncts(def.predicate);
    for (const Expr &c : all) {
        if (!has_call(c)) also(c);
    }
    for (const Expr &c : all) {
        if (!has_call(c)) continue;
        collect(c, tested);
        also(c);
    }
    return calls;
}

bool may_run_itself(const program::Definition &general) {
    const auto &all = general.specializations;
    bool fails = !all.empty() && !all.back().definition;
    return !fails || std::ranges::none_of(all, [](const auto &s) { return bool(s.definition); });
}

std::vector<const program::Definition *> versions_of(const program::Definition &general) {
    std::vector<const program::Definition *> versions;
    for (const program::Specialization &s : general.specializations) {
        if (!s.definition) continue;
        std::vector<const program::Definition *> more = versions_of(*s.definition);
        versions.insert(versions.end(), more.begin(), more.end());
    }
    if (may_run_itself(general)) versions.push_back(&general);
    return versions;
}

std::vector<Expr> conditions_of(const program::Definition &general) {
    std::vector<Expr> conditions;
    for (const program::Specialization &s : general.specializations) {
        if (!s.definition) continue;
        for (const Expr &inner : conditions_of(*s.definition)) {
            conditions.push_back(is_one(inner) ? s.condition : s.condition && inner);
        }
    }
    if (may_run_itself(general)) conditions.push_back(const_true());
    return conditions;
}

int64_t aligned_extent(const program::FunctionContents &func, int d) {
    int64_t modulus = 1;
    int bounds = 0;
    for (const auto &[bound, at] : func.schedule.bounds) {
        if (bound.var != func.args[size_t(d)]) continue;
        auto m = bound.modulus.defined() ? as_const_int(bound.modulus) : std::nullopt;
        auto r = bound.remainder.defined() ? as_const_int(bound.remainder) : std::nullopt;
        if (m && r) modulus = *m;
        bounds++;
    }
    return bounds == 1 ? modulus : 1;
}

StageNest::StageNest(const program::FunctionContents &func, int stage,
                     const program::Definition &def, const std::vector<Expr> &region_min,
                     const std::vector<Expr> &region_max)
    : func(func), stage(stage), definition(def), calls(calls_of(def)) {
    add_pure_variables(region_min, region_max);
    for (const program::ReductionVariable &r : definition.reduction) {
        add_original(r.var, r.min, simplify(r.min + r.extent - 1));
        variables.back().of_reduction = true;
    }
    for (const auto &t : def.schedule.transforms) {
        std::visit([&](const auto &transform) { apply(transform); }, t.directive);
    }
    make_loops();
    make_lets_and_tests();
    add_predicate_tests();
}

int StageNest::add(Symbol var, Expr min, Expr max) {
    variables.push_back({Symbol::fresh(str(func.name, ".", var)), std::move(min), std::move(max)});
    names[var] = int(variables.size()) - 1;
    return names[var];
}

void StageNest::add_original(Symbol var, Expr min, Expr max) {
    originals[var] = add(var, std::move(min), std::move(max));
}

void StageNest::add_pure_variables(const std::vector<Expr> &min, const std::vector<Expr> &max) {
    for (size_t d = 0; d < func.args.size(); d++) {
        const auto *arg = stage == 0 ? nullptr : definition.args[d].as<ir::Variable>();
        bool is_pure_here = stage == 0 || (arg && arg->name == func.args[d]);
        if (!is_pure_here) continue;
        add_original(func.args[d], min[d], max[d]);
        // What earlier stages compute is enlarged by what later ones read of it.
        bool is_last = size_t(stage) + 1 == func.stages.size();
        if (is_last) variables.back().multiple = aligned_extent(func, int(d));
    }
}

int StageNest::current(Symbol var) const {
    auto found = names.find(var);
    if (found == names.end()) {
        throw InternalError(str("no variable ", var, " in stage ", stage, " of ", func.name));
    }
    return found->second;
}

bool StageNest::divides(const Variable &old, const Expr &factor) const {
    auto constant = as_const_int(factor);
    if (!constant || *constant <= 0) return false;
    auto extent = as_const_int(simplify(old.max - old.min + 1));
    return (extent ? *extent : old.multiple) % *constant == 0;
}

void StageNest::apply(const program::Split &split) {
    int old_index = current(split.old);
    const Variable old = variables[size_t(old_index)];
    Expr factor = cast(Int(32), split.factor);
    Expr outer_extent = simplify(ceil_div(old.max - old.min + 1, factor));
    int outer = add(split.outer, 0, simplify(outer_extent - 1));
    int inner = add(split.inner, 0, simplify(factor - 1));
    auto size = as_const_int(factor);
    bool exact = divides(old, factor);
    if (size && exact && old.multiple % *size == 0) {
        variables[size_t(outer)].multiple = old.multiple / *size;
    }
    for (int made : {outer, inner}) variables[size_t(made)].of_reduction = old.of_reduction;
    variables[size_t(old_index)].made_from = int(transforms.size());
    transforms.push_back(Split{old_index, outer, inner, factor, split.tail, exact});
}

void StageNest::apply(const program::Fuse &fuse) {
    int inner = current(fuse.inner), outer = current(fuse.outer);
    const Variable i = variables[size_t(inner)], o = variables[size_t(outer)];
    // Where there is nothing to compute, both extents may be negative.
    const Expr inner_extent = ir::max(i.max - i.min + 1, 0), outer_extent = o.max - o.min + 1;
    int fused = add(fuse.fused, 0, simplify(inner_extent * outer_extent - 1));
    const bool of_reduction = i.of_reduction || o.of_reduction;
    variables[size_t(fused)].of_reduction = of_reduction;
    fused_loops.push_back({fuse.fused,
                           simplify(cast(Int(64), inner_extent) * cast(Int(64), outer_extent)),
                           of_reduction});
    variables[size_t(inner)].made_from = variables[size_t(outer)].made_from =
        int(transforms.size());
    transforms.push_back(Fuse{inner, outer, fused});
}

void StageNest::apply(const program::Rename &rename) {
    int old = current(rename.old);
    const Variable v = variables[size_t(old)];
    int renamed = add(rename.new_name, v.min, v.max);
    variables[size_t(renamed)].multiple = v.multiple;
    variables[size_t(renamed)].of_reduction = v.of_reduction;
    variables[size_t(old)].made_from = int(transforms.size());
    transforms.push_back(Rename{old, renamed});
}

void StageNest::make_loops() {
    for (const program::Loop &l : definition.schedule.loops) {
        if (l.var == program::outermost_loop()) {
            loops.push_back({l.var, Symbol::fresh(str(func.name, ".outermost")), 0, 1});
            continue;
        }
        Variable &v = variables[size_t(current(l.var))];
        v.loop = int(loops.size());
        loops.push_back(
            {l.var, v.symbol, v.min, simplify(v.max - v.min + 1), l.kind, l.partition, l.in_call});
    }
}

int StageNest::loops_in_call() const {
    const auto first = std::ranges::find(loops, false, &Loop::in_call);
    return int(first - loops.begin());
}

bool StageNest::is_in_pieces() const {
    return func.has_extern_definition() && size_t(loops_in_call()) + 1 < loops.size();
}

// A tail that a call runs ends with what the split has; nothing is left where a loop around it goes
// beyond that.
Expr StageNest::piece_exists() const {
    const int in_call = loops_in_call();
    Expr exists;
    for (const Transform &t : transforms) {
        const Split *s = std::get_if<Split>(&t);
        if (!s || !is_guard(s->tail) || is_exact(*s) || depth(s->old) >= in_call) continue;
        if (!grows(s->outer) && outermost(s->inner) < in_call) continue;
        Interval i = interval(s->old, in_call);
        Expr some = simplify(i.min <= i.max);
        exists = exists.defined() ? exists && some : some;
    }
    return exists;
}

int StageNest::find_loop(Symbol var) const {
    for (size_t i = 0; i < loops.size(); i++) {
        if (loops[i].var == var) return int(i);
    }
    return -1;
}

Expr StageNest::symbol_of(int var) const {
    return ir::Variable::make(Int(32), variables[size_t(var)].symbol);
}

// Whether a split needs no tail: the factor divides the extent, and no later transform makes the
// loops over tiles, or within one, run further.
bool StageNest::is_exact(const Split &s) const {
    return s.divides && !grows(s.outer) && !grows(s.inner);
}

// Where the last whole tile begins, for a tail that shifts inwards.
Expr StageNest::last_start(const Split &s) const {
    const Variable &old = variables[size_t(s.old)];
    return simplify(max(old.max + 1 - s.factor, old.min));
}

Expr StageNest::split_value(const Split &s) const {
    const Variable &old = variables[size_t(s.old)];
    Expr first = symbol_of(s.outer) * s.factor;
    if (!is_shift(s.tail) || is_exact(s)) return first + old.min + symbol_of(s.inner);
    return min(likely_if_innermost(first) + old.min, last_start(s)) + symbol_of(s.inner);
}

// A variable's value from those it is made of: the let that defines it.
Expr StageNest::value_of(int var) const {
    auto fuse_value = [&](const Fuse &f) {
        const Variable &inner = variables[size_t(f.inner)];
        Expr extent = simplify(inner.max - inner.min + 1), fused = symbol_of(f.fused);
        if (var == f.inner) return fused % extent + inner.min;
        return fused / extent + variables[size_t(f.outer)].min;
    };
    return std::visit(overloaded{[&](const Split &s) { return split_value(s); }, fuse_value,
                                 [&](const Rename &r) { return symbol_of(r.renamed); }},
                      transforms[size_t(variables[size_t(var)].made_from)]);
}

int StageNest::depth(int var) const {
    const Variable &v = variables[size_t(var)];
    if (v.loop >= 0) return v.loop;
    if (v.made_from < 0) return int(loops.size());
    return std::visit(
        overloaded{[&](const Split &s) { return std::min(depth(s.outer), depth(s.inner)); },
                   [&](const Fuse &f) { return depth(f.fused); },
                   [&](const Rename &r) { return depth(r.renamed); }},
        transforms[size_t(v.made_from)]);
}

int StageNest::outermost(int var) const {
    const Variable &v = variables[size_t(var)];
    if (v.loop >= 0) return v.loop;
    if (v.made_from < 0) return int(loops.size());
    return std::visit(
        overloaded{[&](const Split &s) { return std::max(outermost(s.outer), outermost(s.inner)); },
                   [&](const Fuse &f) { return outermost(f.fused); },
                   [&](const Rename &r) { return outermost(r.renamed); }},
        transforms[size_t(v.made_from)]);
}

// Of an expression in the user's variables.
int StageNest::depth_of(const Expr &e) const {
    int deepest = int(loops.size());
    for_each_node(e, [&](const ir::Variable &v) {
        auto found = originals.find(v.name);
        if (found != originals.end()) deepest = std::min(deepest, depth(found->second));
    });
    return deepest;
}

// From the last transform to the first: what it splits may be what an earlier one made.
void StageNest::make_lets_and_tests() {
    auto add_let = [&](int var) {
        lets.push_back({variables[size_t(var)].symbol, value_of(var), depth(var), {}});
    };
    auto add_split = [&](const Split &s) {
        add_let(s.old);
        if (!is_guard(s.tail) || is_exact(s)) return;
        const Variable &old = variables[size_t(s.old)];
        lets.back().last = old.max;
        tests.push_back({likely(symbol_of(s.old) <= old.max), depth(s.old), false, true});
    };
    auto add_fuse = [&](const Fuse &f) {
        add_let(f.inner);
        add_let(f.outer);
    };
    for (auto t = transforms.rbegin(); t != transforms.rend(); ++t) {
        std::visit(overloaded{add_split, add_fuse, [&](const Rename &r) { add_let(r.old); }}, *t);
    }
}

void StageNest::add_predicate_tests() {
    if (!definition.predicate.defined()) return;
    for (const Expr &c : conjuncts(definition.predicate)) {
        tests.push_back({in_symbols(c), depth_of(c), has_call(c)});
    }
}

Expr StageNest::in_symbols(const Expr &e) const {
    Substitution s;
    for (const auto &[var, index] : originals) s[var] = symbol_of(index);
    return substitute(s, e);
}

std::vector<Expr> StageNest::args() const {
    std::vector<Expr> all;
    if (stage == 0) {
        for (Symbol a : func.args) all.push_back(symbol_of(originals.at(a)));
    } else {
        for (const Expr &a : definition.args) all.push_back(in_symbols(a));
    }
    return all;
}

// Whether this point is to be written, for a split that computes some points twice or too many.
Expr StageNest::blend_condition(const Split &s) const {
    if (!is_blend(s.tail) || is_exact(s)) return {};
    const Variable &old = variables[size_t(s.old)];
    Expr is_within = symbol_of(s.old) <= old.max;
    if (s.tail == TailStrategy::RoundUpAndBlend) return is_within;
    Expr is_new = symbol_of(s.old) >= symbol_of(s.outer) * s.factor + old.min;
    // A tile that is longer than all there is ends beyond it.
    bool fits = is_one(simplify(old.max - old.min + 1 >= s.factor));
    return fits ? is_new : is_new && is_within;
}

std::vector<Expr> StageNest::values() const {
    Expr keep;
    for (const Transform &t : transforms) {
        const Split *split = std::get_if<Split>(&t);
        Expr c = split ? blend_condition(*split) : Expr();
        if (c.defined()) keep = keep.defined() ? keep && c : c;
    }
    std::vector<Expr> all;
    for (size_t k = 0; k < definition.values.size(); k++) {
        Expr value = in_symbols(definition.values[k]);
        if (keep.defined()) {
            Expr there = ir::Call::make(value.type(), func.name, CallKind::Func, int(k), args());
            value = select(likely(keep), value, there);
        }
        all.push_back(value);
    }
    return all;
}

Interval StageNest::split_interval(const Split &s, int fixed) const {
    const Variable &old = variables[size_t(s.old)];
    Interval outer = interval(s.outer, fixed), inner = interval(s.inner, fixed);
    Expr low = outer.min * s.factor + old.min, high = outer.max * s.factor + old.min;
    if (is_shift(s.tail) && !is_exact(s)) {
        low = min(low, last_start(s));
        high = min(high, last_start(s));
    }
    low = low + inner.min;
    high = high + inner.max;
    if (is_guard(s.tail) && !is_exact(s)) {
        high = min(high, old.max);
        // Where nothing is left of a part of a tile, its interval is not turned around; where there
        // is nothing at all, it does not begin before that.
        if (!is_zero(inner.min)) low = max(min(low, old.max), old.min);
    }
    return {simplify(low), simplify(high)};
}

Interval StageNest::fuse_interval(const Fuse &f, int var, int fixed) const {
    const Variable &inner = variables[size_t(f.inner)];
    if (var == f.inner) return {inner.min, inner.max};
    Interval fused = interval(f.fused, fixed);
    Expr extent = simplify(inner.max - inner.min + 1), first = variables[size_t(var)].min;
    return {simplify(fused.min / extent + first), simplify(fused.max / extent + first)};
}

Interval StageNest::interval(int var, int fixed) const {
    const Variable &v = variables[size_t(var)];
    if (v.made_from < 0 && v.loop < 0) return {v.min, v.max};
    if (outermost(var) < fixed && !grows(var)) return {v.min, v.max};
    if (depth(var) >= fixed) return Interval::single_point(symbol_of(var));
    if (v.made_from < 0) return {v.min, v.max};
    return std::visit(overloaded{[&](const Split &s) { return split_interval(s, fixed); },
                                 [&](const Fuse &f) { return fuse_interval(f, var, fixed); },
                                 [&](const Rename &r) { return interval(r.renamed, fixed); }},
                      transforms[size_t(v.made_from)]);
}

IntervalScope StageNest::box(int fixed) const {
    IntervalScope scope;
    Region own = own_region();
    for (const auto &[var, index] : originals) {
        const Variable &v = variables[size_t(index)];
        bool whole = outermost(index) < fixed;
        scope.bind(var, whole ? Interval{v.min, simplify(computed_max(own, index, v.min, v.max))}
                              : interval(index, fixed));
    }
    return scope;
}

// A single point that is no loop's or let's symbol is a range of one element that never moves.
bool StageNest::is_fixed(const Interval &i) const {
    const auto *v = i.is_single_point() ? i.min.as<ir::Variable>() : nullptr;
    if (!v) return false;
    auto is_this = [&](const auto &bound) { return bound.symbol == v->name; };
    return std::ranges::any_of(loops, is_this) || std::ranges::any_of(lets, is_this);
}

IntervalScope StageNest::box_over(const std::vector<Expr> &region_min,
                                  const std::vector<Expr> &last) const {
    IntervalScope scope;
    for (size_t d = 0; d < func.args.size(); d++) {
        if (originals.contains(func.args[d])) {
            scope.bind(func.args[d], {region_min[d], last[d]});
        }
    }
    for (const program::ReductionVariable &r : definition.reduction) {
        const Variable &v = variables[size_t(originals.at(r.var))];
        scope.bind(r.var, {v.min, v.max});
    }
    return scope;
}

// Whether the variable runs beyond its range because of a split of it, or of what it became.
bool StageNest::grows(int var) const {
    const Variable &v = variables[size_t(var)];
    if (v.made_from < 0) return false;
    auto split_grows = [&](const Split &s) { return !is_guard(s.tail) && !is_exact(s); };
    return std::visit(overloaded{split_grows, [&](const Fuse &f) { return grows(f.fused); },
                                 [&](const Rename &r) { return grows(r.renamed); }},
                      transforms[size_t(v.made_from)]);
}

// Dimensions that the stage does not run over are left undefined.
Region StageNest::own_region() const {
    Region region{std::vector<Expr>(func.args.size()), std::vector<Expr>(func.args.size())};
    for (size_t d = 0; d < func.args.size(); d++) {
        auto original = originals.find(func.args[d]);
        if (original == originals.end()) continue;
        region.min[d] = variables[size_t(original->second)].min;
        region.max[d] = variables[size_t(original->second)].max;
    }
    return region;
}

// How many values the variable takes when the stage computes this region.
Expr StageNest::extent_in(const Region &region, int var) const {
    for (size_t d = 0; d < func.args.size(); d++) {
        auto original = originals.find(func.args[d]);
        if (original != originals.end() && original->second == var) {
            return region.max[d] - region.min[d] + 1;
        }
    }
    for (const Transform &t : transforms) {
        const Split *split = std::get_if<Split>(&t);
        const Fuse *fuse = std::get_if<Fuse>(&t);
        const Rename *rename = std::get_if<Rename>(&t);
        if (split && var == split->inner) return split->factor;
        if (split && var == split->outer) {
            return ceil_div(extent_in(region, split->old), split->factor);
        }
        if (rename && var == rename->renamed) return extent_in(region, rename->old);
        if (fuse && var == fuse->fused) {
            return extent_in(region, fuse->inner) * extent_in(region, fuse->outer);
        }
    }
    const Variable &of_reduction = variables[size_t(var)];
    return of_reduction.max - of_reduction.min + 1;
}

// How much further than to its last value the variable runs at most, if it has values at all.
Expr StageNest::most_beyond(int var) const {
    const Variable &v = variables[size_t(var)];
    if (v.made_from < 0 || !grows(var)) return 0;
    auto of_split = [&](const Split &s) -> Expr {
        Expr of_tile = s.factor - 1 + most_beyond(s.inner);
        return is_shift(s.tail) ? of_tile : most_beyond(s.outer) * s.factor + of_tile;
    };
    auto of_fuse = [&](const Fuse &f) -> Expr {
        return var == f.inner ? Expr(0) : most_beyond(f.fused);
    };
    return std::visit(
        overloaded{of_split, of_fuse, [&](const Rename &r) { return most_beyond(r.renamed); }},
        transforms[size_t(v.made_from)]);
}

// The last value of a variable that has to run from min to max, when the stage computes `region`.
Expr StageNest::computed_max(const Region &region, int var, const Expr &min,
                             const Expr &max) const {
    const Variable &v = variables[size_t(var)];
    if (v.made_from < 0 || !grows(var)) return max;
    auto split_max = [&](const Split &s) {
        Expr outer_extent = ceil_div(max - min + 1, s.factor);
        Expr last_outer = computed_max(region, s.outer, 0, outer_extent - 1);
        Expr last_inner = computed_max(region, s.inner, 0, s.factor - 1);
        Expr rounded = last_outer * s.factor + last_inner + min;
        if (!is_shift(s.tail)) return rounded;
        // Its last tile is moved back to end at max, where there is room for a whole tile.
        return ir::max(max, min + s.factor - 1) + simplify(last_inner + 1 - s.factor);
    };
    // The inner variable is a remainder, and stays within its range; the outer is what is left.
    auto fuse_max = [&](const Fuse &f) -> Expr {
        if (var == f.inner) return max;
        Expr extent = extent_in(region, f.inner), last = extent * (max - min + 1) - 1;
        Expr beyond = simplify(computed_max(region, f.fused, 0, last) - last);
        if (is_zero(beyond)) return max;
        // As (last + beyond) / extent + min, but so that its bounds do not forget that `last` and
        // `extent` change together.
        return max + (ir::min(beyond, most_beyond(f.fused)) - 1) / ir::max(extent, 1) + 1;
    };
    auto renamed_max = [&](const Rename &r) { return computed_max(region, r.renamed, min, max); };
    return std::visit(overloaded{split_max, fuse_max, renamed_max},
                      transforms[size_t(v.made_from)]);
}

Expr StageNest::rounded_max(int d, const Region &region) const {
    const Expr &max = region.max[size_t(d)];
    auto found = originals.find(func.args[size_t(d)]);
    if (found == originals.end()) return max;
    return simplify(computed_max(region, found->second, region.min[size_t(d)], max));
}

Expr StageNest::most_beyond_max(int d) const {
    auto found = originals.find(func.args[size_t(d)]);
    return found == originals.end() ? Expr(0) : simplify(most_beyond(found->second));
}

bool StageNest::rounds_simply() const {
    return std::ranges::all_of(transforms, [&](const Transform &t) {
        const auto *split = std::get_if<Split>(&t);
        return split && !is_shift(split->tail) &&
               std::ranges::any_of(originals,
                                   [&](const auto &o) { return o.second == split->old; });
    });
}

bool StageNest::rounds_fused() const {
    return std::ranges::any_of(transforms, [&](const Transform &t) {
        const auto *fuse = std::get_if<Fuse>(&t);
        return fuse && grows(fuse->fused);
    });
}

bool StageNest::rounds(int d) const {
    auto found = originals.find(func.args[size_t(d)]);
    return found != originals.end() && grows(found->second);
}

}  // namespace tessera::lower
