#include "interpret/function_state.h"
#include "base/error.h"
#include "ir/mutator.h"
#include "ir/visitor.h"
#include "program/environment.h"
#include "program/scatter.h"
#include <algorithm>

namespace tessera::interpret {
namespace {

using namespace ir;

bool is_variable(const Expr &e, Symbol name) {
    const auto *v = e.as<Variable>();
    return v && v->name == name;
}

bool touches_own_coordinate_only(const program::FunctionContents &f, const program::Definition &d,
                                 size_t dim) {
    Symbol pure = f.args[dim];
    if (!is_variable(d.args[dim], pure)) return false;
    bool only = true;
    program::for_each_expr(d, [&](const Expr &e) {
        for_each_node(e, [&](const Call &call) {
            if (call.callee == f.name) only &= is_variable(call.args[dim], pure);
        });
    });
    return only;
}

}  // namespace

std::vector<StageWrite> writes_of(const program::Definition &d) {
    std::vector<StageWrite> all(program::count_of_elements(d.args, d.values));
    for (size_t n = 0; n < all.size(); n++) {
        for (const Expr &e : d.args) all[n].args.push_back(program::element(e, n));
        for (const Expr &e : d.values) all[n].values.push_back(program::element(e, n));
    }
    return all;
}

StageState::StageState(const program::FunctionContents &f, const program::Definition &d)
    : definition(&d) {
    for (Symbol arg : f.args) arguments.push_back(&(variables[arg] = Value(Int(32))));
    for (size_t i = 0; i < f.args.size(); i++) free.push_back(is_variable(d.args[i], f.args[i]));
    std::vector<Expr> box, all;
    for (const program::ReductionVariable &r : d.reduction) {
        reduction.push_back(&(variables[r.var] = Value(Int(32))));
        box.push_back(r.min);
        box.push_back(r.extent);
    }
    std::vector<StageWrite> several = writes_of(d);
    writes = several.size();
    for (const StageWrite &write : several) {
        all.insert(all.end(), write.args.begin(), write.args.end());
        all.insert(all.end(), write.values.begin(), write.values.end());
    }
    tape = std::make_unique<Tape>(std::move(all));
    bounds = std::make_unique<Tape>(std::move(box));
    if (d.predicate.defined()) predicate = std::make_unique<Tape>(std::vector{d.predicate});
}

FunctionState::FunctionState(const program::FunctionRef &function)
    : contents(function), values(function->dimensions(), int(function->types.size())),
      slices_done(function->dimensions(), 1) {
    const program::FunctionContents &f = *function;
    size_t dims = f.args.size();
    sliced.assign(dims, !f.has_extern_definition());
    mixed.assign(dims, f.has_extern_definition());
    low.assign(dims, 1);
    high.assign(dims, 0);
    for (size_t d = 0; d < dims; d++) {
        bool free_somewhere = false;
        for (size_t s = 1; s < f.stages.size(); s++) {
            sliced[d] = sliced[d] && touches_own_coordinate_only(f, *f.stages[s], d);
            free_somewhere |= is_variable(f.stages[s]->args[d], f.args[d]);
        }
        mixed[d] = mixed[d] || (!sliced[d] && free_somewhere);
    }
}

bool FunctionState::in_region(const int32_t *point) const {
    for (size_t d = 0; d < mixed.size(); d++) {
        if (mixed[d] && (point[d] < low[d] || point[d] > high[d])) return false;
    }
    return true;
}

void FunctionState::grow_region(const int32_t *point) {
    for (size_t d = 0; d < mixed.size(); d++) {
        bool empty = low[d] > high[d];
        low[d] = empty ? point[d] : std::min(low[d], point[d]);
        high[d] = empty ? point[d] : std::max(high[d], point[d]);
    }
}

void FunctionState::forget_values() {
    values.clear();
    slices_done.clear();
    extern_done = false;
    extern_values.clear();
}

}  // namespace tessera::interpret
