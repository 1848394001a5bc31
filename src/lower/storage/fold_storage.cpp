#include "lower/storage/fold_storage.h"
#include "algebra/prove.h"
#include "algebra/simplify.h"
#include "algebra/solve.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "lower/checks/errors.h"
#include "lower/storage/production_path.h"
#include "lower/traced_access.h"
#include <algorithm>
#include <bit>

namespace tessera::lower {

using namespace ir;
using algebra::Interval;
using algebra::is_monotonic;
using algebra::Monotonic;
using algebra::simplify;
using program::FunctionContents;

namespace {

constexpr int64_t largest_fold = 1024;

// Indices of one dimension of one function, modulo a factor.
class FoldIndices final : public Mutator {
public:
    FoldIndices(Symbol func, size_t dim, Expr factor, bool traced)
        : func(func), dim(dim), factor(std::move(factor)), traced(traced) {}

private:
    Expr visit(const Call &call) override {
        Expr mutated = Mutator::visit(call);
        const Call &c = *mutated.as<Call>();
        if (c.callee != func) return mutated;
        return Call::make(c.type, c.callee, c.call_kind, c.value_index, folded(c.args), c.referent);
    }
    Stmt visit(const Provide &provide) override {
        Stmt mutated = Mutator::visit(provide);
        const Provide &p = *mutated.as<Provide>();
        if (p.func != func) return mutated;
        return Provide::make(p.func, p.values, folded(p.args), p.predicate);
    }
    std::vector<Expr> folded(std::vector<Expr> args) const {
        Expr index = args[dim] % factor;
        args[dim] = traced ? stored_at(args[dim], index) : index;
        return args;
    }
    Symbol func;
    size_t dim;
    Expr factor;
    bool traced;
};

struct Fold {
    size_t dim;
    Expr factor;
    Expr check;  // must hold in every iteration; undefined: proved
    Symbol loop;
    Expr needed;  // by one iteration
};

// Looks for the folds of one function's storage.
class FindFolds {
public:
    FindFolds(const FunctionContents &f, const RegionSymbols &region, const ProductionPath &path)
        : f(f), region(region), path(path) {}

    std::vector<Fold> find() {
        for (size_t i = 0; i < path.entries.size(); i++) {
            if (!path.entries[i].is_loop()) continue;
            if (path.entries[i].loop_kind != LoopKind::Serial) break;
            bool carries = false;
            for (size_t d = 0; d < f.args.size(); d++) carries |= fold(d, i);
            // What is kept from one iteration to the next must not be overwritten by folding for
            // the sake of a loop further in.
            if (carries) break;
        }
        return std::move(folds);
    }

private:
    // The ends of the region in dimension d during one iteration of the loop.
    Interval window(size_t d, size_t loop) const {
        algebra::IntervalScope scope;
        for (size_t i = loop + 1; i < path.entries.size(); i++) {
            const PathEntry &e = path.entries[i];
            if (e.is_loop()) scope.bind(e.name, range_of(e, scope));
        }
        Expr low = path.expand(Variable::make(Int(32), region.min[d]));
        Expr high = path.expand(Variable::make(Int(32), region.max[d]));
        return {bounds_of_expr(low, scope).min, bounds_of_expr(high, scope).max};
    }

    Interval range_of(const PathEntry &e, const algebra::IntervalScope &scope) const {
        Interval first = bounds_of_expr(path.expand(e.value), scope);
        Interval last = bounds_of_expr(path.expand(e.value + e.loop_extent - 1), scope);
        return {first.min, last.max};
    }

    const program::StorageDimension *storage(size_t d) const {
        for (const program::StorageDimension &s : f.schedule.storage) {
            if (s.var == f.args[d]) return &s;
        }
        return nullptr;
    }

    // True if the loop walks along this dimension. Then it is folded, if it can be.
    bool fold(size_t d, size_t loop) {
        Symbol v = path.entries[loop].name;
        Interval w = window(d, loop);
        if (!w.is_bounded()) return false;
        if (path.asks_within(w.min, loop) || path.asks_within(w.max, loop)) return true;
        if (!uses_symbol(w.min, v) && !uses_symbol(w.max, v)) return false;
        Monotonic low = is_monotonic(w.min, v), high = is_monotonic(w.max, v);
        bool forward = low != Monotonic::Decreasing && high != Monotonic::Decreasing;
        bool backward = low != Monotonic::Increasing && high != Monotonic::Increasing;
        bool one_way = low != Monotonic::Unknown && high != Monotonic::Unknown &&
                       (forward || backward) && is_computed_exactly(f, int(d)) &&
                       is_pure_in_all_stages(f, int(d));
        if (!one_way) return true;
        Expr extent = simplify(w.max - w.min + 1);
        const program::StorageDimension *s = storage(d);
        if (s && s->fold_factor.defined()) {
            Expr factor = cast(Int(32), s->fold_factor);
            Expr fits = simplify(extent <= factor);
            folds.push_back({d, factor, algebra::can_prove(fits) ? Expr() : fits, v, extent});
            return true;
        }
        auto bound = algebra::constant_upper_bound(extent);
        if (bound && *bound > 0 && *bound <= largest_fold) {
            folds.push_back({d, int(std::bit_ceil(uint64_t(*bound))), {}, v, extent});
        }
        return true;
    }

    const FunctionContents &f;
    const RegionSymbols &region;
    const ProductionPath &path;
    std::vector<Fold> folds;
};

class FoldAll final : public Mutator {
public:
    explicit FoldAll(const lower::Context &lowering) : lowering(lowering) {}

private:
    Stmt visit(const Realize &realize) override {
        Stmt mutated = Mutator::visit(realize);
        const Realize &r = *mutated.as<Realize>();
        const FunctionContents *f = lowering.function(r.func);
        if (!f) return mutated;
        std::vector<Fold> folds = folds_of(*f, r);
        check_requests(*f, folds);
        Stmt body = r.body;
        ir::Region bounds = r.bounds;
        bool traced = are_accesses_traced(lowering, r.func);
        for (const Fold &fold : folds) {
            body = FoldIndices(r.func, fold.dim, fold.factor, traced)(body);
            if (fold.check.defined()) body = add_check(*f, fold, body);
            bounds[fold.dim] = {0, fold.factor};
        }
        if (folds.empty()) return mutated;
        return Realize::make(r.func, r.types, r.memory, bounds, r.condition, body);
    }

    std::vector<Fold> folds_of(const FunctionContents &f, const Realize &r) const {
        if (!is_stored_outside(f) || f.has_extern_definition()) return {};
        if (lowering.is_read_by_extern(f.name)) return {};
        ProductionPath path = find_production(r.body, r.func);
        if (path.productions != 1) return {};
        return FindFolds(f, lowering.regions.at(r.func).back(), path).find();
    }

    // What the user asked for must have been done.
    static void check_requests(const FunctionContents &f, const std::vector<Fold> &folds) {
        for (const auto &[directive, at] : f.schedule.directives) {
            const auto *wanted = std::get_if<program::FoldStorage>(&directive);
            if (!wanted) continue;
            bool done = false;
            for (const Fold &fold : folds) done |= f.args[fold.dim] == wanted->var;
            if (done) continue;
            throw CompileError(at, str("fold_storage(", wanted->var, ") of ", f.name,
                                       ": no serial loop between "
                                       "where ",
                                       f.name, " is stored and where it is computed walks over ",
                                       wanted->var,
                                       " in one direction; store it outside of such a loop "
                                       "(store_root, store_at) and compute it inside"));
        }
    }

    // In each iteration of the loop, before anything is computed.
    static Stmt add_check(const FunctionContents &f, const Fold &fold, const Stmt &body);

    const lower::Context &lowering;
};

class AddCheck final : public Mutator {
public:
    AddCheck(Symbol func, Stmt check) : func(func), check(std::move(check)) {}

private:
    Stmt visit(const ProducerConsumer &p) override {
        if (p.func != func || !p.is_producer) return Mutator::visit(p);
        return Block::make(check, Stmt(&p));
    }
    Symbol func;
    Stmt check;
};

Stmt FoldAll::add_check(const FunctionContents &f, const Fold &fold, const Stmt &body) {
    const Symbol var = f.args[fold.dim];
    auto written = std::ranges::find(f.schedule.storage, var, &program::StorageDimension::var);
    Expr message = error_call_at(
        written->fold_written, "fold_factor_too_small",
        {Expr(f.name.text()), Expr(var.text()), fold.factor, Expr(fold.loop.text()), fold.needed});
    return AddCheck(f.name, AssertStmt::make(fold.check, message))(body);
}

}  // namespace

Stmt fold_storage(const Stmt &s, const lower::Context &context) { return FoldAll(context)(s); }

}  // namespace tessera::lower
