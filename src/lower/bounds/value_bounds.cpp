#include "lower/bounds/value_bounds.h"
#include "algebra/simplify.h"
#include "ir/equal.h"
#include "ir/operators.h"
#include "ir/visitor.h"

namespace tessera::lower {

using namespace ir;
using algebra::Interval;
using algebra::IntervalScope;
using program::Definition;
using program::FunctionContents;

namespace {

bool same(const Expr &a, const Expr &b) {
    return a.defined() == b.defined() && (!a.defined() || equal(a, b));
}

}  // namespace

ValueBounds::ValueBounds(const ProgramContext &context) {
    for (const program::FunctionRef &f : context.order) values[f->name] = bounds_of(*f);
}

Interval ValueBounds::of(const ir::Call &call) const {
    auto found = values.find(call.callee);
    if (found == values.end()) return Interval::everything();
    return found->second.at(size_t(call.value_index));
}

std::function<Interval(const ir::Call &)> ValueBounds::as_callback() const {
    return [this](const ir::Call &call) { return of(call); };
}

// The values of one stage for arguments of which nothing is known.
ValueBounds::Values ValueBounds::bounds_of_stage(const FunctionContents &f, const Definition &def) {
    IntervalScope scope;
    scope.call_bounds = as_callback();
    for (Symbol arg : f.args) scope.bind(arg, Interval::everything());
    for (const program::ReductionVariable &r : def.reduction) {
        scope.bind(r.var, {r.min, r.min + r.extent - 1});
    }
    Values all;
    for (const Expr &v : def.values) {
        bool is_index = v.type().is_int_or_uint() && v.type().is_scalar();
        all.push_back(is_index ? bounds_of_expr(v, scope) : Interval::everything());
    }
    return all;
}

// An update may read its own function: its bounds are right if they are those that the update gives
// when they are assumed of what it reads.
ValueBounds::Values ValueBounds::bounds_of(const FunctionContents &f) {
    Values unknown(f.types.size());
    if (f.has_extern_definition()) return unknown;
    Values bounds = bounds_of_stage(f, *f.stages[0]);
    for (int round = 0; round < 2; round++) {
        Values wider = bounds;
        values[f.name] = bounds;
        for (size_t s = 1; s < f.stages.size(); s++) {
            Values stage = bounds_of_stage(f, *f.stages[s]);
            for (size_t k = 0; k < wider.size(); k++) wider[k] = make_union(wider[k], stage[k]);
        }
        bool stable = true;
        for (size_t k = 0; k < wider.size(); k++) {
            stable &= same(wider[k].min, bounds[k].min) && same(wider[k].max, bounds[k].max);
        }
        if (stable) return bounds;
        bounds = wider;
    }
    return unknown;
}

bool is_bounded_by_values(const Expr &index) {
    bool reads = false;
    for_each_node(index, [&](const ir::Call &c) { reads |= c.call_kind == CallKind::Func; });
    return reads && !algebra::bounds_of_expr(index, {}).is_bounded();
}

}  // namespace tessera::lower
