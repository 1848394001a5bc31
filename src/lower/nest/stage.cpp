#include "lower/nest/stage.h"
#include "algebra/simplify.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "lower/loops/likely.h"
#include "lower/nest/evaluation.h"
#include "lower/nest/scans.h"
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

// Returns the place of a value in the list.
size_t place_of(int var, const std::vector<int> &all) {
    return size_t(std::ranges::find(all, var) - all.begin());
}

}  // namespace

namespace {

// Returns what is known of a condition in terms of coordinates; undefined where that is nothing.
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
    for (const auto &[bound, at, order] : func.schedule.bounds) {
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
    add_original(program::outermost_loop(), 0, 0);  // what splits it makes loops of one iteration
    add_reduction(region_min, region_max);
    for (const auto &t : def.schedule.transforms) apply(t.directive);
    make_loops();
    make_lets_and_tests();
    add_predicate_tests();
}

int StageNest::add(Symbol var, const Interval &range) {
    variables.push_back({Symbol::fresh(str(func.name, ".", var)), range.min, range.max});
    names[var] = int(variables.size()) - 1;
    return names[var];
}

void StageNest::add_original(Symbol var, Expr min, Expr max) {
    originals[var] = add(var, {std::move(min), std::move(max)});
}

void StageNest::add_pure_variables(const std::vector<Expr> &min, const std::vector<Expr> &max) {
    for (size_t d = 0; d < func.args.size(); d++) {
        const auto *arg = stage == 0 ? nullptr : definition.args[d].as<ir::Variable>();
        bool is_pure_here = stage == 0 || (arg && arg->name == func.args[d]);
        if (!is_pure_here) continue;
        add_original(func.args[d], min[d], max[d]);
        // Earlier stages compute more, for later ones that read them.
        bool is_last = size_t(stage) + 1 == func.stages.size();
        if (is_last) variables.back().multiple = aligned_extent(func, int(d));
    }
}

// Returns the values of a variable of a reduction that lie within the region, of which it is a
// scan.
static Interval part_of_scan(const program::ReductionVariable &r, const Expr &min,
                             const Expr &max) {
    return {simplify(ir::max(r.min, min)), simplify(ir::min(r.min + r.extent - 1, max))};
}

void StageNest::add_reduction(const std::vector<Expr> &min, const std::vector<Expr> &max) {
    for (const program::ReductionVariable &r : definition.reduction) {
        Interval range{r.min, simplify(r.min + r.extent - 1)};
        if (const std::optional<int> d = scanned_dimension(func, definition, r.var)) {
            scanned[r.var] = *d;
            range = part_of_scan(r, min[size_t(*d)], max[size_t(*d)]);
        }
        add_original(r.var, range.min, range.max);
        variables.back().of_reduction = true;
    }
}

int StageNest::current(Symbol var) const {
    auto found = names.find(var);
    if (found == names.end()) {
        throw InternalError(str("no variable ", var, " in stage ", stage, " of ", func.name));
    }
    return found->second;
}

Interval StageNest::range(int var) const {
    return {variables[size_t(var)].min, variables[size_t(var)].max};
}

std::vector<Interval> StageNest::ranges(const std::vector<int> &vars) const {
    std::vector<Interval> all;
    for (int var : vars) all.push_back(range(var));
    return all;
}

program::LoopFacts StageNest::facts(int var) const {
    const Variable &v = variables[size_t(var)];
    const std::optional<int64_t> extent = as_const_int(simplify(v.max - v.min + 1));
    return extent ? program::LoopFacts{*extent, true} : program::LoopFacts{v.multiple};
}

namespace {

// Returns true if the stage is run by threads, and no lanes, of a block that begins further out.
// Lanes work together, so they are left alone.
bool is_by_threads_of_block(const program::Definition &def) {
    bool has_threads = false, has_others = false;
    for (const program::Loop &l : def.schedule.loops) {
        const GPULevel level = traits_of(l.kind).gpu;
        has_threads |= level == GPULevel::Thread;
        has_others |= level != GPULevel::Thread && level != GPULevel::None;
    }
    return has_threads && !has_others;
}

}  // namespace

// Guards a split that shifts inwards if the region may have no room for a whole tile, which would
// run beyond its end. Within a block, guards cost nothing (threads without work wait anyway), and
// no more is read.
program::LoopTransform StageNest::within_region(const program::LoopTransform &transform) const {
    const auto *split = std::get_if<program::Split>(&transform);
    if (!split || split->tail != TailStrategy::ShiftInwards || !is_by_threads_of_block(definition))
        return transform;
    if (!program::model_of(transform)->may_run_beyond({facts(current(split->old))}))
        return transform;
    program::Split guarded = *split;
    guarded.tail = TailStrategy::GuardWithIf;
    return guarded;
}

void StageNest::apply(const program::LoopTransform &written) {
    const program::LoopTransform transform = within_region(written);
    Transform t{program::model_of(transform), {}, {}, false};
    for (Symbol loop : t.model->taken()) t.taken.push_back(current(loop));
    add_made(t);
    if (t.taken.size() > 1) add_fused(t);
    for (int old : t.taken) variables[size_t(old)].made_from = int(transforms.size());
    transforms.push_back(std::move(t));
}

void StageNest::add_made(Transform &t) {
    std::vector<program::LoopFacts> of_taken;
    bool of_reduction = false;
    for (int old : t.taken) {
        of_taken.push_back(facts(old));
        of_reduction |= variables[size_t(old)].of_reduction;
    }
    t.divides = t.model->is_exact(of_taken);
    const std::vector<Symbol> loops = t.model->made();
    const std::vector<Interval> found = t.model->ranges_made(ranges(t.taken), false);
    const std::vector<program::LoopFacts> known = t.model->facts_made(of_taken);
    t.made.resize(loops.size());
    for (size_t i = loops.size(); i-- > 0;) {
        t.made[i] = add(loops[i], found[i]);
        variables.back().multiple = known[i].multiple;
        variables.back().of_reduction = of_reduction;
    }
}

void StageNest::add_fused(const Transform &t) {
    Expr iterations;
    for (int old : t.taken) {
        // If there is nothing to compute, all extents may be negative.
        Expr extent = range(old).max - range(old).min + 1;
        if (old != t.taken.back()) extent = max(extent, 0);
        const Expr wide = cast(Int(64), extent);
        iterations = iterations.defined() ? iterations * wide : wide;
    }
    const bool of_reduction = variables[size_t(t.made[0])].of_reduction;
    fused_loops.push_back({t.model->made()[0], simplify(iterations), of_reduction});
}

void StageNest::make_loops() {
    for (const program::Loop &l : definition.schedule.loops) {
        Variable &v = variables[size_t(current(l.var))];
        v.loop = int(loops.size());
        if (l.var == program::outermost_loop()) {
            v.symbol = Symbol::fresh(str(func.name, ".outermost"));
            loops.push_back({l.var, v.symbol, 0, 1});
            continue;
        }
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
        if (!t.model->tail().leaves_out || is_exact(t) || depth(t.taken[0]) >= in_call) continue;
        if (!grows(t.made.back()) && outermost(t.made[0]) < in_call) continue;
        Interval i = interval(t.taken[0], in_call);
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

std::vector<Expr> StageNest::symbols_of(const std::vector<int> &vars) const {
    std::vector<Expr> all;
    for (int var : vars) all.push_back(symbol_of(var));
    return all;
}

// Returns true if a transform needs no tail: what it makes covers what it takes, and no later
// transform makes that run further.
bool StageNest::is_exact(const Transform &t) const {
    return t.divides && std::ranges::none_of(t.made, [&](int made) { return grows(made); });
}

// A variable's value from those it is made of: the let that defines it.
Expr StageNest::value_of(int var) const {
    const Transform &t = maker_of(var);
    return t.model->value_taken(place_of(var, t.taken), ranges(t.taken), symbols_of(t.made),
                                is_exact(t));
}

int StageNest::depth(int var) const {
    const Variable &v = variables[size_t(var)];
    if (v.loop >= 0) return v.loop;
    int deepest = int(loops.size());
    if (v.made_from < 0) return deepest;
    for (int made : maker_of(var).made) deepest = std::min(deepest, depth(made));
    return deepest;
}

int StageNest::outermost(int var) const {
    const Variable &v = variables[size_t(var)];
    if (v.loop >= 0) return v.loop;
    if (v.made_from < 0) return int(loops.size());
    int highest = 0;
    for (int made : maker_of(var).made) highest = std::max(highest, outermost(made));
    return highest;
}

// Returns the depth of an expression in the user's variables.
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
    for (auto t = transforms.rbegin(); t != transforms.rend(); ++t) {
        for (int var : t->taken) add_let(var);
    }
}

void StageNest::add_let(int var) {
    const Transform &t = maker_of(var);
    const Expr last = is_exact(t) ? Expr() : t.model->last_let_through(range(var));
    lets.push_back({variables[size_t(var)].symbol, value_of(var), depth(var), last});
    if (last.defined()) tests.push_back({likely(symbol_of(var) <= last), depth(var), false, true});
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

// Returns whether this point is to be written, for a transform that computes some points twice or
// too many; undefined where all are.
Expr StageNest::is_written(const Transform &t) const {
    if (is_exact(t)) return {};
    Expr all;
    for (int var : t.taken) {
        Expr one = t.model->is_written(range(var), symbol_of(var), symbols_of(t.made));
        if (one.defined()) all = all.defined() ? all && one : one;
    }
    return all;
}

std::vector<Expr> StageNest::values() const {
    Expr keep;
    for (const Transform &t : transforms) {
        Expr c = is_written(t);
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

Interval StageNest::interval(int var, int fixed) const {
    const Variable &v = variables[size_t(var)];
    if (v.made_from < 0 && v.loop < 0) return {v.min, v.max};
    if (outermost(var) < fixed && !grows(var)) return {v.min, v.max};
    if (depth(var) >= fixed) return Interval::single_point(symbol_of(var));
    if (v.made_from < 0) return {v.min, v.max};
    const Transform &t = maker_of(var);
    const auto of_made = [&](size_t made) { return interval(t.made[made], fixed); };
    return t.model->interval_taken(place_of(var, t.taken), ranges(t.taken), of_made, is_exact(t),
                                   grows(t.made.back()));
}

IntervalScope StageNest::box(int fixed) const {
    IntervalScope scope;
    StageRegion own = own_region();
    for (const auto &[var, index] : originals) {
        const Variable &v = variables[size_t(index)];
        bool whole = outermost(index) < fixed;
        scope.bind(var, whole ? Interval{v.min, simplify(computed_max(own, index, range(index)))}
                              : interval(index, fixed));
    }
    return scope;
}

bool StageNest::binds(const Symbol &symbol) const {
    auto is_this = [&](const auto &bound) { return bound.symbol == symbol; };
    return std::ranges::any_of(loops, is_this) || std::ranges::any_of(lets, is_this);
}

// A single point that is no loop's or let's symbol is a range of one element that never moves.
bool StageNest::is_fixed(const Interval &i) const {
    const auto *v = i.is_single_point() ? i.min.as<ir::Variable>() : nullptr;
    return v && binds(v->name);
}

bool StageNest::moves(const Interval &i) const {
    bool found = false;
    for (const Expr &end : {i.min, i.max}) {
        if (!end.defined()) continue;
        for_each_node(end, [&](const ir::Variable &v) { found |= binds(v.name); });
    }
    return found;
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
        const auto scan = scanned.find(r.var);
        if (scan == scanned.end()) {
            scope.bind(r.var, {v.min, v.max});
        } else {
            const auto d = size_t(scan->second);
            scope.bind(r.var, part_of_scan(r, region_min[d], last[d]));
        }
    }
    return scope;
}

// Returns true if the variable runs beyond its range because of a split of it, or of what it
// became.
bool StageNest::grows(int var) const {
    if (variables[size_t(var)].made_from < 0) return false;
    const Transform &t = maker_of(var);
    return !t.model->tail().leaves_out && !is_exact(t);
}

// Dimensions that the stage does not run over are left undefined.
StageRegion StageNest::own_region() const {
    StageRegion region{std::vector<Expr>(func.args.size()), std::vector<Expr>(func.args.size())};
    for (size_t d = 0; d < func.args.size(); d++) {
        auto original = originals.find(func.args[d]);
        if (original == originals.end()) continue;
        region.min[d] = variables[size_t(original->second)].min;
        region.max[d] = variables[size_t(original->second)].max;
    }
    return region;
}

// The range of the variable when the stage computes this region.
Interval StageNest::range_in(const StageRegion &region, int var) const {
    for (size_t d = 0; d < func.args.size(); d++) {
        auto original = originals.find(func.args[d]);
        if (original != originals.end() && original->second == var) {
            return {region.min[d], region.max[d]};
        }
    }
    for (const Transform &t : transforms) {
        const size_t place = place_of(var, t.made);
        if (place == t.made.size()) continue;
        std::vector<Interval> taken;
        for (int old : t.taken) taken.push_back(range_in(region, old));
        return t.model->ranges_made(taken, true)[place];
    }
    return range(var);
}

// Returns how much further than to its last value the variable runs at most, if it has values at
// all.
Expr StageNest::most_beyond(int var) const {
    if (!grows(var)) return 0;
    const Transform &t = maker_of(var);
    return t.model->most_beyond(place_of(var, t.taken),
                                [&](size_t made) { return most_beyond(t.made[made]); });
}

// The last value of a variable that has to run over this range, when the stage computes `region`.
Expr StageNest::computed_max(const StageRegion &region, int var, const Interval &over) const {
    if (!grows(var)) return over.max;
    const Transform &t = maker_of(var);
    std::vector<Interval> taken;
    for (int old : t.taken) taken.push_back(old == var ? over : range_in(region, old));
    return t.model->last_computed(
        place_of(var, t.taken), taken,
        {.last = [&](size_t made,
                     const Interval &of) { return computed_max(region, t.made[made], of); },
         .most_beyond = [&](size_t made) { return most_beyond(t.made[made]); }});
}

Expr StageNest::rounded_max(int d, const StageRegion &region) const {
    const Expr &max = region.max[size_t(d)];
    auto found = originals.find(func.args[size_t(d)]);
    if (found == originals.end()) return max;
    return simplify(computed_max(region, found->second, {region.min[size_t(d)], max}));
}

Expr StageNest::most_beyond_max(int d) const {
    auto found = originals.find(func.args[size_t(d)]);
    return found == originals.end() ? Expr(0) : simplify(most_beyond(found->second));
}

bool StageNest::rounds_simply() const {
    return std::ranges::all_of(transforms, [&](const Transform &t) {
        return t.made.size() > 1 && !t.model->tail().overlaps &&
               std::ranges::any_of(originals,
                                   [&](const auto &o) { return o.second == t.taken[0]; });
    });
}

bool StageNest::rounds_fused() const {
    return std::ranges::any_of(
        transforms, [&](const Transform &t) { return t.taken.size() > 1 && grows(t.made[0]); });
}

bool StageNest::rounds(int d) const {
    auto found = originals.find(func.args[size_t(d)]);
    return found != originals.end() && grows(found->second);
}

}  // namespace tessera::lower
