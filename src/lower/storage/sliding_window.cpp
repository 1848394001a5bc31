#include "lower/storage/sliding_window.h"
#include "algebra/prove.h"
#include "algebra/simplify.h"
#include "algebra/solve.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "lower/loops/likely.h"
#include "lower/storage/production_path.h"

namespace tessera::lower {

using namespace ir;
using algebra::is_monotonic;
using algebra::Monotonic;
using algebra::simplify;
using program::FunctionContents;

namespace {

// Of a region, in one iteration, where splits round what is new.
constexpr int64_t largest_step = 1 << 16;

using NewValues = std::unordered_map<Symbol, Expr>;

// Finds the new bounds of the regions of one function.
class Slide {
public:
    Slide(const FunctionContents &f, const RegionSymbols &region, const ProductionPath &path,
          NewValues &values)
        : f(f), region(region), path(path), values(values) {
        for (size_t d = 0; d < f.args.size(); d++) {
            min.push_back(path.expand(Variable::make(Int(32), region.min[d])));
            max.push_back(path.expand(Variable::make(Int(32), region.max[d])));
        }
    }

    void over_all_loops() {
        for (size_t i = path.entries.size(); i-- > 0;) {
            const PathEntry &e = path.entries[i];
            bool in_order = e.loop_kind == LoopKind::Serial || e.loop_kind == LoopKind::Unrolled;
            if (e.is_loop() && in_order) over(i);
        }
    }

private:
    // The only dimension that depends on the loop, or -1, also where it is unknown how.
    int dimension_of(size_t loop) const {
        int only = -1;
        for (size_t d = 0; d < min.size(); d++) {
            if (path.asks_within(min[d], loop) || path.asks_within(max[d], loop)) return -1;
            if (!path.depends_on_loop(min[d], loop) && !path.depends_on_loop(max[d], loop))
                continue;
            if (only >= 0) return -1;
            only = int(d);
        }
        return only;
    }

    bool depends_on_inner_loop(size_t loop, size_t d) const {
        return path.names_loop_within(min[d], loop) || path.names_loop_within(max[d], loop);
    }

    // Whether the production for one iteration of a loop further in may begin anew, and not finish,
    // points that the one for another has finished: where stages go beyond what is asked for.
    bool undoes_others(size_t loop) const {
        if (f.stages.size() < 2) return false;
        for (size_t d = 0; d < min.size(); d++) {
            bool goes_beyond = !is_computed_exactly(f, int(d)) || !is_pure_in_all_stages(f, int(d));
            if (goes_beyond && depends_on_inner_loop(loop, d)) return true;
        }
        return false;
    }

    // How many points at the end of the region splits make an iteration compute that adds `added`:
    // so many, to compute nothing behind the end. 0: just those that it adds. Nothing if that is
    // not known.
    std::optional<int> points_at_once(int d, const Expr &added) const {
        std::optional<int64_t> multiple = granularity(f, d);
        if (!multiple || *multiple == 1) return multiple ? std::optional(0) : std::nullopt;
        // Nobody else may have been told where the region begins.
        for (const PathEntry &e : path.entries) {
            for (Symbol end : {region.min[size_t(d)], region.max[size_t(d)]}) {
                for (const Expr &told : {e.value, e.loop_extent}) {
                    if (told.defined() && uses_symbol(told, end)) return std::nullopt;
                }
            }
        }
        std::optional<int64_t> most = algebra::constant_upper_bound(simplify(added));
        if (!most || *most > largest_step || *multiple > largest_step) return std::nullopt;
        return int((std::max<int64_t>(*most, 1) + *multiple - 1) / *multiple * *multiple);
    }

    void over(size_t loop) {
        const PathEntry &l = path.entries[loop];
        int d = dimension_of(loop);
        if (d < 0 || depends_on_inner_loop(loop, size_t(d)) || !is_pure_in_all_stages(f, d) ||
            undoes_others(loop) || !runs_without_gaps(path, loop)) {
            return;
        }
        const Expr &low = min[size_t(d)], &high = max[size_t(d)];
        Expr v = Variable::make(Int(32), l.name);
        Expr first = v == l.value;
        auto before = [&](const Expr &e) { return simplify(substitute(l.name, v - 1, e)); };
        Monotonic low_moves = is_monotonic(low, l.name), high_moves = is_monotonic(high, l.name);
        auto never = [](Monotonic m, Monotonic other) {
            return m == other || m == Monotonic::Unknown;
        };
        if (!never(low_moves, Monotonic::Decreasing) && !never(high_moves, Monotonic::Decreasing)) {
            auto points = points_at_once(d, high - before(high));
            if (!points) return;
            Expr begin = *points > 0 ? high + 1 - *points : before(high) + 1;
            Expr rest = simplify(ir::max(low, begin));
            set(region.min[size_t(d)], first, near(rest, region.max[size_t(d)], high));
        } else if (!never(low_moves, Monotonic::Increasing) &&
                   !never(high_moves, Monotonic::Increasing)) {
            auto points = points_at_once(d, before(low) - low);
            if (!points) return;
            Expr end = *points > 0 ? low - 1 + *points : before(low) - 1;
            Expr rest = simplify(ir::min(high, end));
            set(region.max[size_t(d)], first, near(rest, region.min[size_t(d)], low));
        }
    }

    // The expression as the value of a let plus a constant, if it is that: then what the let is
    // made of need not be computed again. Markers of the loops around belong to them.
    Expr near(const Expr &e, Symbol let, const Expr &let_expanded) const {
        Expr distance = simplify(e - let_expanded);
        return is_const(distance) ? path.let_value(let) + distance : simplify(remove_likely(e));
    }

    void set(Symbol bound, const Expr &first, const Expr &rest) {
        values[bound] = select(first, path.let_value(bound), likely_if_innermost(rest));
    }

    const FunctionContents &f;
    const RegionSymbols &region;
    const ProductionPath &path;
    NewValues &values;
    std::vector<Expr> min, max;
};

class ReplaceLets final : public Mutator {
public:
    explicit ReplaceLets(const NewValues &values) : values(values) {}

private:
    Stmt visit(const LetStmt &let) override {
        auto found = values.find(let.name);
        if (found == values.end()) return Mutator::visit(let);
        return LetStmt::make(let.name, found->second, (*this)(let.body));
    }
    const NewValues &values;
};

}  // namespace

Stmt sliding_window(const Stmt &s, const Context &context) {
    NewValues values;
    for_each_node(s, [&](const Realize &r) {
        const FunctionContents *f = context.function(r.func);
        if (!f || !is_stored_outside(*f)) return;
        ProductionPath path = find_production(r.body, r.func);
        if (path.productions != 1) return;
        Slide(*f, context.regions.at(r.func).back(), path, values).over_all_loops();
    });
    return values.empty() ? s : ReplaceLets(values)(s);
}

}  // namespace tessera::lower
