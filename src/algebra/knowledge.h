#pragma once
#include "algebra/decisions.h"

namespace tessera::algebra {

// All that is known of simplified nodes and of variables; for this component only. It never
// simplifies anything: what it is told, and asked about, is simplified.
//
//   Interner      one object for equal nodes        NodeInfo   intervals, alignments, origins
//   LinearForms   the form of each node             Trends     what values follow
//   ScopedFacts   the facts in force                Decisions  how small or large a form can get
class Knowledge {
public:
    // `effort`: how many steps a single decision about an inequality may take.
    Knowledge(int effort, Arguments arguments)
        : forms(nodes), info(nodes, forms, facts, arguments), trends(nodes, forms, facts, info),
          decisions(nodes, facts, info, trends, effort) {}
    Knowledge(const Knowledge &) = delete;
    Knowledge &operator=(const Knowledge &) = delete;

    Expr intern(const Expr &e) { return nodes.intern(e); }
    bool is_pure(const Expr &e) const { return nodes.is_pure(e); }
    void mark_impure(const Expr &e) { nodes.mark_impure(e); }
    bool is_stable(const Expr &e) { return info.is_stable(e); }

    // Equal to the node modulo 2^32 (or 2^64): what sums and products are made of.
    const LinearForm &form(const Expr &e) { return forms.of(e); }
    // Equal to the node as a whole number, for all that is no sum or product.
    const LinearForm &exact_form(const Expr &e) { return info.exact_form(e); }
    std::optional<LinearForm> substitute(const LinearForm &f, const LinearTerm &t,
                                         const Expr &value) {
        return info.substitute(f, t, value);
    }
    ConstantInterval interval(const Expr &e) { return info.interval(e); }
    ConstantInterval interval(const LinearForm &f) { return info.interval(f); }
    ir::Alignment alignment(const Expr &e) { return info.alignment(e); }
    ir::Alignment alignment(const LinearForm &f) { return info.alignment(f); }
    // Returns true if the value may be any number of its type.
    bool is_data(const Expr &e) { return info.is_data(e); }
    bool may_overflow(const LinearForm &f, Type t) { return info.may_overflow(f, t); }
    bool has_value(const Expr &atom) const { return info.has_value(atom); }
    LinearForm with_values(const LinearForm &f) { return info.with_values(f); }

    // The largest constant found that `f` is never below; stops looking at `goal`.
    int64_t lower_bound(const LinearForm &f, int64_t goal = ConstantInterval::highest) {
        return decisions.lower_bound(f, goal);
    }
    int64_t upper_bound(const LinearForm &f, int64_t goal = ConstantInterval::lowest) {
        return decisions.upper_bound(f, goal);
    }
    // Returns true if no search can find both bounds. Quick, and may be false where that is so.
    bool is_unbounded(const LinearForm &f) { return trends.is_unbounded(f); }
    // Another expression begins, about which as much may be decided as about the last one.
    void renew_allowance() { decisions.renew_allowance(); }

    // Facts learnt between these two are forgotten at `leave`.
    void enter(bool with_facts) { facts.enter(with_facts); }
    void leave() { facts.leave(); }
    // For what is remembered: the scope in which it was found out, and whether that still holds.
    uint32_t scope() const { return facts.scope(); }
    bool is_usable(uint32_t scope) const { return facts.is_usable(scope); }

    // The variable lies in the interval, or is the value, or has the alignment.
    void bind(Symbol s, const Interval &i);
    void bind_value(Symbol s, const Expr &value);
    void align(Symbol s, ir::Alignment a) { facts.set_alignment(s, a); }
    // The variable is replaced by this value, which is cheap, wherever it is met.
    void replace(Symbol s, const Expr &value);
    const KnownVariable *find(Symbol s) const { return facts.find(s); }

    // The condition, which is stable, holds, and its opposite does not.
    void learn(const Expr &condition, const Expr &opposite);
    // The condition holds; only decisions will know.
    void learn_inequalities(const Expr &condition);
    bool is_true(const Expr &condition) const { return facts.is_true(condition); }
    bool is_false(const Expr &condition) const { return facts.is_false(condition); }

private:
    void learn_comparison(const Expr &condition);
    void learn_inequality(const LinearForm &f);
    void narrow(const LinearTerm &t, int64_t constant);

    Interner nodes;
    LinearForms forms;
    ScopedFacts facts;
    NodeInfo info;
    Trends trends;
    Decisions decisions;
};

}  // namespace tessera::algebra
