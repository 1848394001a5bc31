#include "lower/storage/fold_scans.h"
#include "algebra/bounds.h"
#include "algebra/prove.h"
#include "algebra/simplify.h"
#include "algebra/solve.h"
#include "ir/equal.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "lower/storage/fold_indices.h"
#include <algorithm>
#include <bit>

namespace tessera::lower {

using namespace ir;
using algebra::Interval;
using algebra::is_monotonic;
using algebra::Monotonic;
using algebra::simplify;

namespace {

// Finds the points that a statement touches of one function, in each dimension, in terms of what is
// bound around it.
class FindTouched final : public Visitor {
public:
    FindTouched(Symbol func, size_t dimensions, const Stmt &s)
        : Visitor(Visits::PerUse), touched(dimensions, Interval::nothing()), func(func) {
        (*this)(s);
    }
    std::vector<Interval> touched;
    int accesses = 0;

private:
    void visit(const LetStmt &let) override {
        (*this)(let.value);
        within(let.name, bounds_of_expr(let.value, scope), let.body);
    }
    void visit(const Let &let) override {
        (*this)(let.value);
        within(let.name, bounds_of_expr(let.value, scope), let.body);
    }
    void visit(const For &loop) override {
        (*this)(loop.min);
        (*this)(loop.extent);
        const Interval first = bounds_of_expr(loop.min, scope);
        const Interval last = bounds_of_expr(simplify(loop.min + loop.extent - 1), scope);
        within(loop.name, {first.min, last.max}, loop.body);
    }
    void visit(const Provide &p) override {
        Visitor::visit(p);
        if (p.func == func) add(p.args);
    }
    void visit(const Call &c) override {
        Visitor::visit(c);
        if (c.callee == func) add(c.args);
    }

    template<typename Body>
    void within(Symbol name, const Interval &values, const Body &body) {
        scope.bind(name, values);
        (*this)(body);
        scope.unbind(name);
    }
    void add(const std::vector<Expr> &args) {
        accesses++;
        for (size_t d = 0; d < touched.size(); d++) {
            const Interval i = bounds_of_expr(args[d], scope);
            touched[d] = accesses == 1 ? i : make_union(touched[d], i);
        }
    }

    const Symbol func;
    algebra::IntervalScope scope;
};

// Puts false in place of the condition that it is the loop's first iteration.
class NotFirst final : public Mutator {
public:
    explicit NotFirst(const For &loop) : first(Variable::make(Int(32), loop.name) == loop.min) {}

private:
    Expr visit(const EQ &e) override {
        return equal(Expr(&e), first) ? const_false() : Mutator::visit(e);
    }
    const Expr first;
};

// Finds the outermost loop of more than one iteration that is around a production, and how many
// productions there are.
class FindLoop final : public Visitor {
public:
    FindLoop(Symbol func, const Stmt &s) : func(func) { (*this)(s); }
    const For *found = nullptr;
    int productions = 0;
    bool in_stages = false;

private:
    void visit(const For &loop) override {
        const bool is_outermost = !outermost && !is_one(simplify(loop.extent));
        if (is_outermost) outermost = &loop;
        (*this)(loop.body);
        if (is_outermost) outermost = nullptr;
    }
    void visit(const ProducerConsumer &p) override {
        if (p.is_producer && p.func == func) {
            found = outermost;
            in_stages = p.produced.in_stages;
            productions++;
        }
        (*this)(p.body);
    }
    void visit(const LetStmt &let) override { (*this)(let.body); }
    void visit(const Provide &) override {}
    void visit(const Evaluate &) override {}
    void visit(const AssertStmt &) override {}

    const Symbol func;
    const For *outermost = nullptr;
};

// The folds of one storage.
class FoldsOfStorage {
public:
    explicit FoldsOfStorage(const Realize &r) : realize(r) {}

    std::vector<Fold> find() {
        const FindLoop look(realize.func, realize.body);
        loop = look.found;
        std::vector<Fold> folds;
        if (look.productions == 1 && look.in_stages && loop && !realize.storage.is_passed &&
            !realize.storage.is_async && find_windows()) {
            for (size_t d = 0; d < realize.bounds.size(); d++) {
                if (std::optional<Fold> fold = along(d)) folds.push_back(*fold);
            }
        }
        for (const StorageFold &wanted : realize.storage.folds) {
            const bool is_found =
                std::ranges::find(folds, size_t(wanted.dim), &Fold::dim) != folds.end();
            if (!wanted.is_done && !is_found) refuse(wanted);
        }
        return folds;
    }

private:
    // Returns false if not all accesses are within the loop, or its iterations not in order.
    bool find_windows() {
        const size_t dimensions = realize.bounds.size();
        const FindTouched all(realize.func, dimensions, realize.body);
        const FindTouched later(realize.func, dimensions, NotFirst(*loop)(loop->body));
        const FindTouched first(realize.func, dimensions,
                                substitute(loop->name, loop->min, loop->body));
        in_first = first.touched;
        in_later = later.touched;
        facts.between(loop->name, simplify(loop->min + 1), simplify(loop->min + loop->extent - 1));
        for (Interval &i : in_later) {
            for (Expr *end : {&i.min, &i.max}) {
                if (end->defined()) *end = simplify(*end, facts);
            }
        }
        is_only_within = all.accesses == later.accesses;
        return is_only_within && traits_of(loop->loop_kind).is_in_order;
    }

    // Returns true if no iteration touches points before those that one before it does.
    bool moves_forward(size_t d) const {
        const Interval &first = in_first[d], &later = in_later[d];
        if (!first.is_bounded() || !later.is_bounded()) return false;
        for (auto [begin, end] : {std::pair(first.min, later.min), {first.max, later.max}}) {
            const Monotonic way = is_monotonic(end, loop->name);
            if (way != Monotonic::Increasing && way != Monotonic::Constant) return false;
            if (!algebra::can_prove(begin <= substitute(loop->name, loop->min + 1, end)))
                return false;
        }
        return is_monotonic(later.min, loop->name) == Monotonic::Increasing;
    }

    std::optional<int64_t> most_points(size_t d) const {
        const auto points = [&](const Interval &i) {
            return algebra::constant_upper_bound(simplify(i.max - i.min + 1), facts);
        };
        const std::optional<int64_t> a = points(in_first[d]), b = points(in_later[d]);
        return a && b ? std::optional(std::max(*a, *b)) : std::nullopt;
    }

    std::optional<Fold> along(size_t d) {
        const StorageFold *asked = fold_of(realize.storage, d);
        if ((asked && asked->is_done) || !moves_forward(d)) return {};
        const std::optional<int64_t> most = needed[d] = most_points(d);
        if (!most || *most < 1 || *most > largest_fold) return {};
        if (!asked) return Fold{d, int(std::bit_ceil(uint64_t(*most))), {}, 0, loop->name, {}};
        const std::optional<int64_t> factor = as_const_int(asked->factor);
        if (!factor || *factor < *most) return {};
        return Fold{d, asked->factor, {}, 0, loop->name, {}, asked->var, asked->written};
    }

    [[noreturn]] void refuse(const StorageFold &wanted) const {
        std::string reason;
        const auto most = needed.find(size_t(wanted.dim));
        if (!loop || !is_only_within) {
            reason = str("it is read or computed in several places, not all of them in one loop "
                         "along ",
                         wanted.var, "; leave fold_storage out");
        } else if (most != needed.end() && most->second) {
            reason = str("an iteration of the loop ", loop->name, " needs ", *most->second,
                         " points; fold by a constant that is at least so many");
        } else {
            reason = str("it is not known that the iterations of the loop ", loop->name,
                         " need at most a constant number of points, each those that follow; leave "
                         "fold_storage out");
        }
        throw CompileError(wanted.written,
                           str("fold_storage(", wanted.var, ") of ", realize.func, ": ", reason));
    }

    const Realize &realize;
    const For *loop = nullptr;
    std::vector<Interval> in_first, in_later;
    algebra::Facts facts;  // of the iterations but the first
    bool is_only_within = false;
    std::unordered_map<size_t, std::optional<int64_t>> needed;  // points, by dimension
};

class FoldScans final : public Mutator {
    Stmt visit(const Realize &realize) override {
        const std::vector<Fold> folds = FoldsOfStorage(realize).find();
        Stmt body = (*this)(realize.body);
        if (folds.empty()) return realize.with<&Realize::body>(body);
        StorageFacts storage = realize.storage;
        body = FoldIndices({{realize.func, {folds, storage.traced.accesses()}}})(body);
        ir::Region bounds = realize.bounds;
        for (const Fold &fold : folds) bounds[fold.dim] = {0, fold.factor};
        storage.folds = with_folds_done(folds, storage);
        return realize.with<&Realize::bounds, &Realize::body, &Realize::storage>(bounds, body,
                                                                                 storage);
    }
    Stmt visit(const Provide &p) override { return Stmt(&p); }
};

}  // namespace

Stmt fold_scans(const Stmt &s, const Context &) { return FoldScans()(s); }

}  // namespace tessera::lower
