#include "lower/storage/fold_scans.h"
#include "algebra/bounds.h"
#include "algebra/prove.h"
#include "algebra/simplify.h"
#include "algebra/solve.h"
#include "ir/equal.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "lower/loops/let_scope.h"
#include "lower/loops/likely.h"
#include "lower/storage/fold_indices.h"
#include <algorithm>
#include <bit>
#include <optional>

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

// Returns the last iteration of a loop of several, or one behind it, so that there are several but
// the first: what is one number is no place that moves.
Expr last_iteration(const For &loop) {
    const bool are_two = algebra::constant_upper_bound(loop.extent) == 2;
    return are_two ? loop.min + loop.extent : loop.min + loop.extent - 1;
}

// Finds the outermost loop of more than one iteration that is around a production, and how many
// productions there are.
class FindLoop final : public Visitor {
public:
    // `around`: the lets around the statement; null: loops are of one iteration where their extents
    // say so by themselves.
    FindLoop(Symbol func, const Stmt &s, const LetScope *around) : func(func) {
        if (around) lets = *around;
        (*this)(s);
    }
    const For *found = nullptr;
    int productions = 0;
    bool in_stages = false;

private:
    void visit(const For &loop) override {
        const bool is_outermost = !outermost && !is_once(loop);
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
    void visit(const LetStmt &let) override {
        if (lets)
            lets->within(let, [&] { (*this)(let.body); });
        else
            (*this)(let.body);
    }
    void visit(const Provide &) override {}
    void visit(const Evaluate &) override {}
    void visit(const AssertStmt &) override {}

    bool is_once(const For &loop) const {
        return is_one(simplify(loop.extent)) ||
               (lets && is_one(simplify(lets->expand(loop.extent))));
    }

    const Symbol func;
    std::optional<LetScope> lets;
    const For *outermost = nullptr;
};

// Makes lets within a loop simpler by what is known of the loop, and drops the condition that it is
// its first iteration where they are the same without it.
class SimplifyLets final : public Mutator {
public:
    SimplifyLets(const For &loop, Substitution around) : loop(loop), values(std::move(around)) {
        const Expr last = simplify(substitute(values, loop.min + loop.extent - 1));
        all.between(loop.name, loop.min, last);
        later.between(loop.name, simplify(loop.min + 1), last);
    }

private:
    Stmt visit(const LetStmt &let) override {
        Expr &value = values[let.name] = remove_likely(substitute(values, let.value));
        const bool is_of_loop = uses_symbol(value, loop.name);
        const Expr simple = is_of_loop ? simpler(value) : Expr();
        if (!simple.defined()) return Mutator::visit(let);
        value = simple;
        return let.with<&LetStmt::value, &LetStmt::body>(simple, (*this)(let.body));
    }
    // Returns the same without a choice; undefined if it has none, or cannot do without.
    Expr simpler(const Expr &e) const {
        if (!has_choice(e)) return {};
        const Expr if_later = NotFirst(loop)(e);
        if (if_later.same_as(e)) return without_choice(simplify(e, all));
        const Expr first = substitute(loop.name, loop.min, e);
        for (const algebra::Facts *facts : {&later, &all}) {
            const Expr simple = simplify(if_later, *facts);
            const bool is_same =
                algebra::can_prove(first == substitute(loop.name, loop.min, simple), all);
            if (is_same && !has_choice(simple)) return simple;
        }
        return {};
    }
    static Expr without_choice(const Expr &e) { return has_choice(e) ? Expr() : e; }
    static bool has_choice(const Expr &e) {
        bool any = false;
        for_each_node(e, [&](const Min &) { any = true; });
        for_each_node(e, [&](const Max &) { any = true; });
        for_each_node(e, [&](const Select &) { any = true; });
        return any;
    }
    const For &loop;
    algebra::Facts all, later;  // of the iterations, and of those but the first
    Substitution values;
};

// Keeps the points of a fold in registers of threads, which have no addresses that are computed:
// each at its distance from the first point that an iteration of the loop touches. Before an
// iteration computes points, those that it has in common with the one before move down.
class MoveDown final : public Mutator {
public:
    // `last`: the last point that an iteration touches; `around`: the lets around the storage.
    MoveDown(const Realize &realize, const Fold &fold, const Expr &last, Substitution around)
        : func(realize.func), fold(fold), slots(int32_t(as_const_int(fold.factor).value())),
          first(simplify(last - (slots - 1))), lets(std::move(around)) {}

private:
    bool is_walked_by(const For &loop) const {
        bool any = false;
        Substitution inner;
        for_each_node(loop.body,
                      [&](const LetStmt &let) { inner[let.name] = substitute(inner, let.value); });
        const auto look = [&](Symbol f, const std::vector<Expr> &args) {
            any |= f == func && uses_symbol(substitute(inner, args[fold.dim]), loop.name);
        };
        for_each_node(loop.body, [&](const Provide &p) { look(p.func, p.args); });
        for_each_node(loop.body, [&](const Call &c) { look(c.callee, c.args); });
        return any;
    }
    Stmt visit(const For &loop) override {
        if (loop.name == fold.loop || !is_walked_by(loop)) {
            const For *const was_around = around;
            if (loop.name == fold.loop) around = &loop;
            const Stmt s = Mutator::visit(loop);
            around = was_around;
            return s;
        }
        if (is_last_point(loop)) {
            const Expr last = first + (slots - 1);
            lets[loop.name] = last;
            return LetStmt::make(loop.name, last, (*this)(loop.body));
        }
        check_coordinates(loop);
        const Expr slot = int32_variable(Symbol::fresh("slot")), point = first + slot;
        lets[loop.name] = point;
        const Stmt body = LetStmt::make(loop.name, point, (*this)(loop.body));
        const Expr is_in_loop = loop.min <= point && point < loop.min + loop.extent;
        return For::make(slot.as<Variable>()->name, 0, slots, LoopKind::Unrolled, Partition::Never,
                         IfThenElse::make(is_in_loop, body));
    }
    // A loop along the points that stores them runs over their coordinates.
    void check_coordinates(const For &loop) const {
        Substitution inner = lets;
        for_each_node(loop.body,
                      [&](const LetStmt &let) { inner[let.name] = substitute(inner, let.value); });
        for_each_node(loop.body, [&](const Provide &p) {
            if (p.func != func) return;
            const Expr at = simplify(substitute(inner, p.args[fold.dim]));
            if (equal(at, int32_variable(loop.name))) return;
            throw CompileError(loop.origin.kind_written,
                               str("store_in of ", func, ": in MemoryType::Tile the loop ",
                                   loop.name, " has to run over coordinates of it; it stores ",
                                   at));
        });
    }
    // Returns true if the loop runs over the last point only, in each iteration of that around.
    bool is_last_point(const For &loop) const {
        const Expr begin = simplify(remove_likely(substitute(lets, loop.min))),
                   end = simplify(remove_likely(substitute(lets, loop.min + loop.extent))),
                   last = first + (slots - 1);
        const Expr end_around = simplify(substitute(lets, around->min + around->extent - 1));
        algebra::Facts all, later;
        all.between(around->name, around->min, end_around);
        later.between(around->name, simplify(around->min + 1), end_around);
        const auto is = [&](const Expr &e, const Expr &wanted) {
            const Expr if_later = NotFirst(*around)(e);
            if (if_later.same_as(e)) return algebra::can_prove(simplify(e, all) == wanted, all);
            return algebra::can_prove(simplify(if_later, later) == wanted, later) &&
                   algebra::can_prove(substitute(around->name, around->min, e) ==
                                      substitute(around->name, around->min, wanted));
        };
        return is(begin, last) && is(end, last + 1);
    }
    Stmt visit(const LetStmt &let) override {
        lets[let.name] = substitute(lets, let.value);
        return Mutator::visit(let);
    }
    Stmt visit(const ProducerConsumer &p) override {
        const Stmt s = Mutator::visit(p);
        if (!p.is_producer || p.func != func) return s;
        const Expr is_later = int32_variable(around->name) > around->min;
        const auto &node = *s.as<ProducerConsumer>();
        std::vector<Stmt> all;
        for (int32_t slot = 0; slot + 1 < slots; slot++)
            all.push_back(IfThenElse::make(is_later, moved_down(p.body, slot)));
        all.push_back(node.body);
        return node.with<&ProducerConsumer::body>(Block::make(std::move(all)));
    }
    // The loops of the first definition but those along the points, by which threads share out all
    // elements, with another value.
    Stmt moved_down(const Stmt &s, int32_t slot) const {
        if (const auto *let = s.as<LetStmt>())
            return let->with<&LetStmt::body>(moved_down(let->body, slot));
        if (const auto *block = s.as<Block>()) return moved_down(block->stmts[0], slot);
        if (const auto *branch = s.as<IfThenElse>())
            return branch->with<&IfThenElse::then_case>(moved_down(branch->then_case, slot));
        if (const auto *loop = s.as<For>()) {
            const Stmt body = moved_down(loop->body, slot);
            return is_walked_by(*loop) ? LetStmt::make(loop->name, loop->min, body)
                                       : loop->with<&For::body>(body);
        }
        const auto *p = s.as<Provide>();
        if (!p) throw InternalError(str("the first definition of ", func, " is no store"));
        std::vector<Expr> from = p->args, to = p->args;
        from[fold.dim] = slot + 1, to[fold.dim] = slot;
        const Expr value = Call::make(p->values[0].type(), func, CallKind::Func, 0, from);
        return Provide::make(func, {value}, to);
    }
    Expr visit(const Call &c) override {
        const Expr e = Mutator::visit(c);
        return c.callee == func ? e.as<Call>()->with<&Call::args>(in_slots(c.args)) : e;
    }
    Stmt visit(const Provide &p) override {
        const Stmt s = Mutator::visit(p);
        return p.func == func ? s.as<Provide>()->with<&Provide::args>(in_slots(p.args)) : s;
    }
    std::vector<Expr> in_slots(std::vector<Expr> args) const {
        args[fold.dim] = simplify(substitute(lets, args[fold.dim]) - first);
        return args;
    }

    const Symbol func;
    const Fold &fold;
    const int32_t slots;
    const Expr first;
    const For *around = nullptr;
    Substitution lets;
};

// The folds of one storage.
class FoldsOfStorage {
public:
    // `around`: the lets around the storage.
    FoldsOfStorage(const Realize &r, const LetScope &around) : realize(r), lets(around) {}

    std::vector<Fold> find() {
        // Blocks have regions of known extents. Elsewhere extents by lets grow with the pipeline.
        const FindLoop look(realize.func, realize.body,
                            realize.memory == MemoryType::Tile ? &lets : nullptr);
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
    // Returns the last point that an iteration but the first touches.
    Expr last_point(const Fold &fold) const {
        algebra::Facts all;
        all.between(loop->name, loop->min, simplify(loop->min + loop->extent - 1));
        return simplify(in_later[fold.dim].max, all);
    }
    const For &around() const { return *loop; }

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
        facts.between(loop->name, simplify(loop->min + 1), simplify(last_iteration(*loop)));
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
    const LetScope &lets;
    const For *loop = nullptr;
    std::vector<Interval> in_first, in_later;
    algebra::Facts facts;  // of the iterations but the first
    bool is_only_within = false;
    std::unordered_map<size_t, std::optional<int64_t>> needed;  // points, by dimension
};

class FoldScans final : public Mutator {
    Stmt visit(const Realize &realize) override {
        FoldsOfStorage of_storage(realize, scope);
        const std::vector<Fold> folds = of_storage.find();
        if (folds.size() == 1 && realize.memory == MemoryType::Tile)
            return in_registers(realize, folds[0], of_storage);
        Stmt body = (*this)(realize.body);
        if (folds.empty()) return realize.with<&Realize::body>(body);
        StorageFacts storage = realize.storage;
        body = FoldIndices({{realize.func, {folds, storage.traced.accesses()}}})(body);
        return folded(realize, folds, body);
    }
    Stmt in_registers(const Realize &realize, const Fold &fold, const FoldsOfStorage &of_storage) {
        Substitution around;
        for (const LetStmt *let : lets) around[let->name] = substitute(around, let->value);
        const Stmt simple = SimplifyLets(of_storage.around(), around)(realize.body);
        const Stmt moved = MoveDown(realize, fold, of_storage.last_point(fold), around)(simple);
        return folded(realize, {fold}, (*this)(moved));
    }
    Stmt visit(const LetStmt &let) override {
        lets.push_back(&let);
        const Stmt s = scope.within(let, [&] { return Mutator::visit(let); });
        lets.pop_back();
        return s;
    }
    static Stmt folded(const Realize &realize, const std::vector<Fold> &folds, const Stmt &body) {
        ir::Region bounds = realize.bounds;
        for (const Fold &fold : folds) bounds[fold.dim] = {0, fold.factor};
        StorageFacts storage = realize.storage;
        storage.folds = with_folds_done(folds, storage);
        return realize.with<&Realize::bounds, &Realize::body, &Realize::storage>(bounds, body,
                                                                                 storage);
    }
    Stmt visit(const Provide &p) override { return Stmt(&p); }

    std::vector<const LetStmt *> lets;  // around
    LetScope scope;                     // of these
};

}  // namespace

Stmt fold_scans(const Stmt &s, const Context &) { return FoldScans()(s); }

}  // namespace tessera::lower
