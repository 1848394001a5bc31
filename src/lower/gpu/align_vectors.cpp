#include "lower/gpu/align_vectors.h"
#include "algebra/simplify.h"
#include "ir/equal.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "lower/gpu/bank_conflicts.h"
#include "lower/gpu/kernel_loops.h"
#include "lower/loops/let_scope.h"
#include <algorithm>
#include <numeric>

namespace tessera::lower {

using namespace ir;

namespace {

// Returns how many of so many lanes are accessed at once at best.
int lanes_at_once(const Type &type) {
    const int most = std::max(1, widest_access / type.bytes());
    return std::gcd(type.lanes(), most);
}

// Finds when an index is a multiple of a number, in terms of what is known before the launch.
class MultipleOf {
public:
    MultipleOf(const std::unordered_set<Symbol> &of_kernel, int modulus)
        : of_kernel(of_kernel), modulus(modulus) {}

    // A condition; undefined: nobody knows.
    Expr operator()(const Expr &e) {
        const auto [found, is_new] = known.try_emplace(e.get());
        if (is_new) {
            kept.push_back(e);
            const Expr condition = find(e);
            return known[e.get()] = condition;
        }
        return found->second;
    }

private:
    bool is_invariant(const Expr &e) {
        const auto [found, is_new] = invariant.try_emplace(e.get(), true);
        if (!is_new) return found->second;
        bool loads = false;
        for_each_node(e, [&](const Load &) { loads = true; });
        return invariant[e.get()] = !loads && !uses_any(e, of_kernel);
    }

    Expr find(const Expr &e) {
        if (is_invariant(e)) return is_multiple(e);
        switch (e.kind()) {
        case NodeKind::Add:
        case NodeKind::Sub: return of_sum(e);
        case NodeKind::Mul: return either(e.as<Mul>()->a, e.as<Mul>()->b);
        case NodeKind::Min: return both((*this)(e.as<Min>()->a), (*this)(e.as<Min>()->b));
        case NodeKind::Max: return both((*this)(e.as<Max>()->a), (*this)(e.as<Max>()->b));
        case NodeKind::Select:
            return both((*this)(e.as<Select>()->true_value), (*this)(e.as<Select>()->false_value));
        case NodeKind::Mod: {
            const auto by = as_const_int(e.as<Mod>()->b);
            return by && *by % modulus == 0 ? (*this)(e.as<Mod>()->a) : Expr();
        }
        case NodeKind::Cast: {
            const auto &cast = *e.as<Cast>();
            const bool widens = cast.type.is_int() && cast.value.type().is_int() &&
                                cast.type.bits() >= cast.value.type().bits();
            return widens ? (*this)(cast.value) : Expr();
        }
        default: return {};
        }
    }

    struct Term {
        Expr value;
        bool is_added;
    };
    std::vector<Term> terms_of(const Expr &sum) {
        std::vector<Term> open = {{sum, true}}, terms;
        while (!open.empty()) {
            const auto [e, is_added] = open.back();
            open.pop_back();
            const auto *add = e.as<Add>();
            const auto *sub = e.as<Sub>();
            if (is_invariant(e) || (!add && !sub)) {
                terms.push_back({e, is_added});
                continue;
            }
            open.push_back({add ? add->a : sub->a, is_added});
            open.push_back({add ? add->b : sub->b, is_added == (add != nullptr)});
        }
        return terms;
    }
    // Both values of a minimum, maximum or select; undefined: it is none.
    static std::pair<Expr, Expr> choices(const Expr &e) {
        if (const auto *m = e.as<Min>()) return {m->a, m->b};
        if (const auto *m = e.as<Max>()) return {m->a, m->b};
        if (const auto *s = e.as<Select>()) return {s->true_value, s->false_value};
        return {};
    }
    // Adds up what is the same for all threads; the other terms are multiples one by one. If a term
    // is a choice, the others belong to each of its values.
    Expr of_sum(const Expr &sum) {
        const std::vector<Term> terms = terms_of(sum);
        for (size_t i = 0; i < terms.size(); i++) {
            const auto [a, b] = choices(terms[i].value);
            if (!a.defined() || is_invariant(terms[i].value)) continue;
            const auto with = [&](const Expr &value) {
                Expr all = terms[i].is_added ? value : -value;
                for (size_t k = 0; k < terms.size(); k++) {
                    if (k != i)
                        all = terms[k].is_added ? all + terms[k].value : all - terms[k].value;
                }
                return (*this)(algebra::simplify(all));
            };
            return both(with(a), with(b));
        }
        Expr all = const_true(), rest = make_zero(sum.type());
        for (const auto &[term, is_added] : terms) {
            if (is_invariant(term)) {
                rest = is_added ? rest + term : rest - term;
                continue;
            }
            all = both(all, (*this)(term));
            if (!all.defined()) return {};
        }
        return both(all, is_multiple(rest));
    }
    Expr either(const Expr &a, const Expr &b) {
        Expr first = (*this)(a);
        if (first.defined() && is_true(first)) return first;
        Expr second = (*this)(b);
        if (!first.defined() || (second.defined() && is_true(second))) return second;
        return second.defined() ? first || second : first;
    }
    static Expr both(const Expr &a, const Expr &b) {
        if (!a.defined() || !b.defined()) return {};
        return is_true(a) ? b : is_true(b) ? a : a && b;
    }
    Expr is_multiple(const Expr &e) const {
        const Expr condition =
            algebra::simplify(e % make_const(e.type(), modulus) == make_zero(e.type()));
        return is_const(condition, 0) ? Expr() : condition;
    }

    const std::unordered_set<Symbol> &of_kernel;
    const int modulus;
    std::unordered_map<const ExprNode *, Expr> known;
    std::unordered_map<const ExprNode *, bool> invariant;
    std::vector<Expr> kept;
};

// Rewrites one kernel for the case that all of its conditions hold.
class AlignKernel final : public Mutator {
public:
    AlignKernel(const LoweredFunction &pipeline, const Stmt &kernel)
        : Mutator(Mutator::Visits::PerUse), pipeline(pipeline) {
        for_each_node(kernel, [&](const For &loop) { of_kernel.insert(loop.name); });
        for_each_node(kernel, [&](const LetStmt &let) { of_kernel.insert(let.name); });
        for_each_node(kernel, [&](const Let &let) { of_kernel.insert(let.name); });
        for_each_node(kernel, [&](const Allocate &a) {
            (traits_of(a.memory).space == AddressSpace::Shared ? shared : own).insert(a.buffer);
        });
    }

    // The conditions; undefined: nothing can be aligned.
    Expr condition() const {
        if (!any) return {};
        Expr all = const_true();
        for (const Expr &c : conditions) all = is_true(all) ? c : all && c;
        return all;
    }

private:
    Stmt visit(const LetStmt &let) override {
        const Expr value = (*this)(let.value);
        const Stmt body = lets.within(let, [&] { return (*this)(let.body); });
        return let.with<&LetStmt::value, &LetStmt::body>(value, body);
    }
    Expr visit(const Load &load) override {
        const Expr index = (*this)(load.index), predicate = (*this)(load.predicate);
        const Alignment found = predicate.defined()
                                    ? load.alignment
                                    : alignment(load.buffer, load.type, load.index, load.alignment);
        return load.with<&Load::index, &Load::predicate, &Load::alignment>(index, predicate, found);
    }
    Stmt visit(const Store &store) override {
        const Expr index = (*this)(store.index), value = (*this)(store.value),
                   predicate = (*this)(store.predicate);
        const Alignment found = predicate.defined() ? store.alignment
                                                    : alignment(store.buffer, store.value.type(),
                                                                store.index, store.alignment);
        return store.with<&Store::index, &Store::value, &Store::predicate, &Store::alignment>(
            index, value, predicate, found);
    }

    Alignment alignment(Symbol buffer, Type type, const Expr &index, Alignment otherwise) {
        const auto *ramp = index.as<Ramp>();
        const int lanes = lanes_at_once(type);
        const bool is_dense = ramp && ramp->base.type().is_scalar() && is_one(ramp->stride);
        if (!is_dense || lanes == 1 || own.contains(buffer)) return otherwise;
        const Expr condition = MultipleOf(of_kernel, lanes)(lets.expand(ramp->base));
        if (!condition.defined()) return otherwise;
        any = true;
        add(condition);
        if (find_argument(pipeline.args, buffer)) {
            const Expr address = BufferProperty::make(buffer, BufferField::Device, 0);
            add(address % make_const(UInt(64), widest_access) == make_zero(UInt(64)));
        }
        return {lanes, 0};
    }
    void add(const Expr &condition) {
        if (is_true(condition)) return;
        const auto is_same = [&](const Expr &c) { return equal(c, condition); };
        if (std::ranges::none_of(conditions, is_same)) conditions.push_back(condition);
    }

    const LoweredFunction &pipeline;
    std::unordered_set<Symbol> of_kernel;    // what is bound in it
    std::unordered_set<Symbol> shared, own;  // storage of blocks, and of threads
    std::vector<Expr> conditions;
    bool any = false;
    LetScope lets;
};

class AlignVectors final : public Mutator {
public:
    explicit AlignVectors(const LoweredFunction &pipeline) : pipeline(pipeline) {}

private:
    Stmt visit(const For &loop) override {
        if (!is_over_blocks(loop)) return Mutator::visit(loop);
        Stmt kernel(&loop);
        AlignKernel align(pipeline, kernel);
        const Stmt aligned = align(kernel);
        const Expr condition = align.condition();
        if (!condition.defined()) return kernel;
        return is_true(condition) ? aligned : IfThenElse::make(condition, aligned, kernel);
    }

    const LoweredFunction &pipeline;
};

}  // namespace

Stmt align_vectors(const LoweredFunction &pipeline, const Context &context) {
    if (!context.target.has_gpu_feature()) return pipeline.body;
    return AlignVectors(pipeline)(pipeline.body);
}

}  // namespace tessera::lower
