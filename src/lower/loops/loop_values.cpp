#include "lower/loops/loop_values.h"
#include "algebra/simplify.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include <algorithm>
#include <ranges>

namespace tessera::lower {
namespace {

using namespace ir;
using algebra::Interval;

// Returns true if the expression is made of variables, numbers and operations alone.
bool is_of_variables(const Expr &e) {
    bool is = true;
    for_each_node(e, [&](const Let &) { is = false; });
    for_each_node(e, [&](const Load &) { is = false; });
    for_each_node(e, [&](const Call &) { is = false; });
    for_each_node(e, [&](const IntrinsicCall &) { is = false; });
    return is;
}

Interval values_in_loop(const Expr &first, const Expr &count, const algebra::IntervalScope &scope) {
    const Expr last = first + count - make_one(count.type());
    if (scope.empty() && is_of_variables(last)) {
        return {algebra::simplify(first), algebra::simplify(last)};
    }
    const auto [of_first, of_last] = algebra::bounds_of_exprs(first, last, scope);
    return {of_first.min, of_last.max};
}

}  // namespace

void LoopValues::push(Symbol name, const Expr &first, const Expr &count) {
    loops.push_back({name, first, count});
}

void LoopValues::pop() {
    if (loops.back().is_known) scope.unbind(loops.back().name);
    loops.pop_back();
}

// Those that it names or that their ends name, innermost first.
std::vector<size_t> LoopValues::needed_by(const Expr &e) const {
    std::vector<size_t> needed;
    std::vector<Expr> named_by = {e};
    for (size_t i = loops.size(); i-- > 0;) {
        const auto names = [&](const Expr &user) { return uses_symbol(user, loops[i].name); };
        if (std::ranges::none_of(named_by, names)) continue;
        needed.push_back(i);
        named_by.push_back(loops[i].first);
        named_by.push_back(loops[i].count);
    }
    return needed;
}

const algebra::IntervalScope &LoopValues::scope_of(const Expr &e) {
    for (size_t i : needed_by(e) | std::views::reverse) {
        Loop &loop = loops[i];
        if (loop.is_known) continue;
        scope.bind(loop.name, values_in_loop(loop.first, loop.count, scope));
        loop.is_known = true;
    }
    return scope;
}

}  // namespace tessera::lower
