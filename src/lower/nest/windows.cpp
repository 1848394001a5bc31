#include "algebra/prove.h"
#include "algebra/simplify.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "lower/nest/insertion_points.h"
#include "lower/nest/regions.h"
#include "program/parameter.h"
#include <algorithm>

// Says how the region of a function that is stored further out moves in the loops between.
namespace tessera::lower {

using namespace ir;
using algebra::simplify;

// Returns the number of the owner's loops that are inside of the function's storage: all of them if
// it is stored where the owner is computed. Returns nothing if that is somewhere else.
std::optional<int> RegionInference::loops_within_storage(const program::FunctionContents &f) const {
    if (!insertion_point.owner) return {};
    const StageNest &owner = *insertion_point.owner;
    const program::LoopLevel &store = store_level(f.schedule);
    const bool is_of_owner = store.is_at() && store.func() == owner.func.name &&
                             (store.stage() < 0 || store.stage() == owner.stage);
    if (is_of_owner && owner.find_loop(store.var()) >= 0) return owner.find_loop(store.var());
    const bool is_beside = context.is_output(owner.func.name)
                               ? store.means_root()
                               : store.matches(owner.func.schedule.compute_level);
    return is_beside ? std::optional(int(owner.loops.size())) : std::nullopt;
}

// Returns the value of a let that is bound here or by the owner of the insertion point; undefined:
// there is none.
Expr RegionInference::let_value(Symbol name) const {
    const auto here = let_values.find(name);
    if (here != let_values.end()) return here->second;
    const auto &lets_of_owner = insertion_point.owner->lets;
    const auto of_owner = std::ranges::find(lets_of_owner, name, &StageNest::Let::symbol);
    return of_owner == lets_of_owner.end() ? Expr() : of_owner->value;
}

// Returns true if it has one value in all iterations of the `within` innermost loops of the owner.
bool RegionInference::stands_still(const Expr &e, int within) const {
    bool still = true;
    for_each_node(e, [&](const BufferProperty &) { still = false; });
    for_each_node(e, [&](const Call &) { still = false; });
    for_each_node(e, [&](const Variable &v) { still = still && stands_still(v, within); });
    return still;
}

bool RegionInference::stands_still(const Variable &v, int within) const {
    if (dynamic_cast<const program::Parameter *>(v.referent.get())) return true;
    if (const Expr value = let_value(v.name); value.defined()) return stands_still(value, within);
    const StageNest &owner = *insertion_point.owner;
    const auto loop = std::ranges::find(owner.loops, v.name, &StageNest::Loop::symbol);
    if (loop != owner.loops.end()) return loop - owner.loops.begin() >= within;
    const auto &all = built.region_symbols.at(owner.func.name);
    return std::ranges::any_of(all, [&](const RegionSymbols &symbols) {
        return std::ranges::find(symbols.min, v.name) != symbols.min.end() ||
               std::ranges::find(symbols.max, v.name) != symbols.max.end();
    });
}

Expr RegionInference::without_lets(const Expr &e) const {
    Substitution values;
    for_each_node(e, [&](const Variable &v) {
        const Expr value = let_value(v.name);
        if (value.defined()) values.try_emplace(v.name, without_lets(value));
    });
    return values.empty() ? e : simplify(substitute(values, e));
}

// Returns true if each iteration of the only loop within the storage goes beyond the one before.
bool RegionInference::advances(const Expr &end, int within) const {
    const auto &loops = insertion_point.owner->loops;
    const StageNest::Loop *only = nullptr;
    for (int i = insertion_point.fixed(); i < within; i++) {
        const StageNest::Loop &loop = loops[size_t(i)];
        if (is_one(loop.extent)) continue;
        if (only || !traits_of(loop.kind).is_in_order) return false;
        only = &loop;
    }
    if (!only) return false;
    const Expr here = without_lets(end), v = Variable::make(Int(32), only->symbol);
    return algebra::can_prove(substitute(only->symbol, v - 1, here) < here);
}

// Notes that a sliding window may let the region begin later, along dimension d.
void RegionInference::note_sliding(const program::FunctionContents &f, int d, Symbol first,
                                   Symbol last, const algebra::Interval &ends) {
    const std::optional<int> within = loops_within_storage(f);
    if (within && stands_still(ends.min, *within) && stands_still(ends.max, *within)) return;
    const bool has_new_points = within && scan_along(f, d) && advances(ends.max, *within);
    sliding.emplace(first, BuiltPipeline::Sliding{last, has_new_points ? 0 : 1});
}

}  // namespace tessera::lower
