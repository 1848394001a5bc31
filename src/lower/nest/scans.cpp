#include "lower/nest/scans.h"
#include "algebra/simplify.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "lower/nest/stage.h"
#include "lower/storage/production_path.h"
#include <algorithm>

namespace tessera::lower {

using namespace ir;
using algebra::simplify;
using program::Definition;
using program::FunctionContents;

namespace {

Symbol name_of_variable(const Expr &e) {
    const auto *v = e.as<Variable>();
    return v ? v->name : Symbol();
}

// Returns true if a loop runs over the variable itself, one value after the other.
bool runs_in_order(const Definition &version, Symbol r) {
    const program::StageSchedule &s = version.schedule;
    const bool is_split = std::ranges::any_of(s.transforms, [&](const auto &t) {
        const std::vector<Symbol> taken = program::model_of(t.directive)->taken();
        return std::ranges::find(taken, r) != taken.end();
    });
    const auto loop = std::ranges::find(s.loops, r, &program::Loop::var);
    return !is_split && loop != s.loops.end() && loop->kind == LoopKind::Serial;
}

// Returns how many points before its own the update reads the function at most, along dimension d;
// nothing if it reads it after that, or nobody knows where.
std::optional<int64_t> points_read_before(const FunctionContents &f, const Definition &update,
                                          int d) {
    const Expr &own = update.args[size_t(d)];
    std::optional<int64_t> most = 0;
    const auto look = [&](const Expr &e) {
        if (!e.defined()) return;
        for_each_node(e, [&](const Call &c) {
            if (c.callee != f.name || !most) return;
            const std::optional<int64_t> before = as_const_int(simplify(own - c.args[size_t(d)]));
            most = before && *before >= 0 ? std::optional(std::max(*most, *before)) : std::nullopt;
        });
    };
    for (const Expr &e : update.values) look(e);
    for (const Expr &e : update.args) look(e);
    look(update.predicate);
    return most;
}

// Looks at the updates of a function in turn.
class FindScan {
public:
    FindScan(const FunctionContents &f, int d) : f(f), d(d) {}

    std::optional<Scan> find() {
        for (size_t s = 1; s < f.stages.size(); s++) {
            for (const Definition *version : versions_of(*f.stages[s])) {
                if (!fits(*version, s + 1 == f.stages.size())) return {};
            }
        }
        if (!first.defined()) return {};
        return Scan{simplify(first)};
    }

private:
    bool fits(const Definition &update, bool is_last) {
        const Symbol own = name_of_variable(update.args[size_t(d)]);
        const std::optional<int64_t> before = points_read_before(f, update, d);
        if (!own.defined() || !before || (*before > 0 && !is_last)) return false;
        if (own == f.args[size_t(d)]) return *before == 0;
        const auto r = std::ranges::find(update.reduction, own, &program::ReductionVariable::var);
        if (r == update.reduction.end() || !runs_in_order(update, own)) return false;
        if (*before > 0 && own != update.reduction.back().var) return false;
        const Expr begin = cast(Int(32), r->min) - int(*before);
        first = first.defined() ? min(first, begin) : begin;
        return true;
    }

    const FunctionContents &f;
    const int d;
    Expr first;
};

bool may_scan(const FunctionContents &f, int d) {
    const bool is_bounded = std::ranges::any_of(f.schedule.bounds, [&](const auto &bound) {
        return bound.directive.var == f.args[size_t(d)];
    });
    return f.stages.size() > 1 && !f.schedule.async && !is_bounded && is_stored_outside(f);
}

}  // namespace

std::optional<Scan> scan_along(const FunctionContents &f, int d) {
    return may_scan(f, d) ? FindScan(f, d).find() : std::nullopt;
}

std::optional<int> scanned_dimension(const FunctionContents &f, const Definition &version,
                                     Symbol r) {
    for (int d = 0; d < int(version.args.size()); d++) {
        if (name_of_variable(version.args[size_t(d)]) == r && scan_along(f, d)) return d;
    }
    return {};
}

}  // namespace tessera::lower
