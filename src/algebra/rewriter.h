#pragma once
#include "algebra/knowledge.h"
#include "ir/nodes.h"

namespace tessera::algebra {

// Makes simplified nodes of simplified operands, by rules, by linear forms and by what is known of
// the operands, so that whatever a rule puts together is simplified as it is built; for this
// component only. Simplified nodes are interned: equal ones are the same object.
class Rewriter {
public:
    explicit Rewriter(Knowledge &known) : known(known) {}

    Expr make(ir::NodeKind op, const Expr &a, const Expr &b);
    Expr make_sum(const Expr &a, const Expr &b, int64_t factor);  // a + factor * b
    Expr make_not(const Expr &a);
    Expr make_select(const Expr &condition, const Expr &a, const Expr &b);
    Expr make_cast(Type t, const Expr &value);
    Expr make_broadcast(const Expr &value, int lanes);
    Expr make_ramp(const Expr &base, const Expr &stride, int lanes);
    Expr make_call(const ir::IntrinsicCall &call);
    Expr make_expr(const LinearForm &f, Type t);  // undefined if a number does not fit
    // f >= 0, == 0 or != 0.
    Expr make_comparison(ir::NodeKind op, const LinearForm &f, Type t);

    // The simplified node for one, without effects, whose operands are simplified.
    Expr remake(const Expr &e);
    // The constant that the node is, or else the node.
    Expr folded(const Expr &node);
    // A condition that is known to hold, or not to, as a constant; any other node itself.
    Expr decided(const Expr &e);
    Expr intern(const Expr &e) { return known.intern(e); }

private:
    struct Negation {
        Expr before, after;
        uint32_t scope = ScopedFacts::no_scope;
    };

    // rewriter.cpp
    Expr fold_or_undefined(const Expr &node);
    Expr raw(ir::NodeKind op, const Expr &a, const Expr &b);
    Expr make_normal(ir::NodeKind op, const Expr &a, const Expr &b);
    Expr decide_by_intervals(const Expr &node, const Expr &a, const Expr &b);
    bool may_shift_out(const Expr &a, int64_t k);
    // rewrite_by_rules.cpp
    Expr apply_rules(const Expr &node);
    Expr build(const void *pattern, const void *bindings, Type expected);
    // rewrite_sum.cpp
    Expr make_product(const Expr &a, const Expr &b);
    // Says what a form stands for, and has to after it is recombined: a value of its type, which is
    // what it is modulo 2^32 (or 2^64), or a whole number, which may be none of the type.
    enum class Sums : uint8_t { MayWrap, AreExact };
    const LinearForm &form_for(const Expr &e, Sums sums) {
        return sums == Sums::AreExact ? known.exact_form(e) : known.form(e);
    }
    bool recombine(LinearForm &f, Sums sums);
    bool recombine_lanes(LinearForm &f, Sums sums);
    bool recombine_once(LinearForm &f, Sums sums);
    bool recombine_division(LinearForm &f, const LinearTerm &t, Sums sums);
    bool recombine_lets(LinearForm &f, const LinearTerm &t);
    bool recombine_pair(LinearForm &f, const LinearTerm &s, const LinearTerm &t, Sums sums);
    Expr sum_of_selects(const ir::Select &p, const ir::Select &q, int64_t factor, Sums sums);
    // rewrite_division.cpp
    Expr make_division(const Expr &a, int64_t divisor);
    Expr make_modulus(const Expr &a, int64_t divisor);
    Expr as_written(ir::NodeKind op, const Expr &a, int64_t divisor);
    // rewrite_min_max.cpp
    Expr make_min_max(ir::NodeKind op, const Expr &a, const Expr &b);
    Expr factor_min_max(ir::NodeKind op, const Expr &a, const Expr &b);
    Expr combine_min_max(ir::NodeKind op, std::vector<Expr> operands);
    int compare_order(const Expr &a, const Expr &b);
    // rewrite_compare.cpp
    Expr make_exact_comparison(ir::NodeKind op, const Expr &a, const Expr &b);
    std::optional<bool> decide_wrapping_equality(ir::NodeKind op, const Expr &a, const Expr &b);
    Expr split_comparison(const LinearForm &f, Type t);
    Expr make_at_least_zero(LinearForm f, Type t);
    Expr make_equality(LinearForm f, Type t, bool equal);
    Expr emit_comparison(ir::NodeKind op, const LinearForm &f, Type t);
    // rewrite_logic.cpp
    Expr make_logic(ir::NodeKind op, const Expr &a, const Expr &b);
    Expr compute_not(const Expr &a);
    bool is_other_where(const Expr &condition, const Expr &value, const Expr &other, bool opposite);
    Expr select_of_forms(const Expr &condition, const Expr &a, const Expr &b);
    // rewrite_vector.cpp
    Expr make_vector(ir::NodeKind op, const Expr &a, const Expr &b);
    Expr make_shuffle(const ir::Shuffle &s);
    Expr make_vector_reduce(const ir::VectorReduce &r);

    Knowledge &known;
    NodeMap<Negation> negations;
    int fuel = 0, merging = 0;
};

}  // namespace tessera::algebra
