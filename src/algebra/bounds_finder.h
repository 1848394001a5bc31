#pragma once
#include "algebra/bounds.h"
#include "algebra/simplifier.h"
#include "ir/operators.h"
#include <initializer_list>
#include <unordered_set>

namespace tessera::algebra {

// Finds the bounds of expressions; for bounds.cpp only, and divided by subject:
//   bounds.cpp             the walk, sums, names of ends       bounds_arithmetic.cpp   products
//   bounds_conditions.cpp  selects, and what conditions narrow
//   bounds_values.cpp      casts, comparisons, ramps, intrinsics
class BoundsFinder {
public:
    // For questions about these expressions.
    BoundsFinder(const IntervalScope &scope, std::initializer_list<Expr> questions);
    Interval run(const Expr &e);

private:
    struct Bound {
        Symbol name;
        Expr value;
    };
    // Simplification drops a clamp where it knows, of all variables together, that the value is
    // within it; the ends here are each found alone, and may be outside.
    ConstantInterval interval_as_written(const Expr &e);
    Expr simple(const Expr &e) { return e.defined() ? s(e) : e; }
    Expr number(Type t, int64_t v) { return s.rewriter.intern(ir::make_const(t.element_of(), v)); }
    Expr make(ir::NodeKind op, const Expr &a, const Expr &b);
    Expr lower_of(const Expr &a, const Expr &b) { return make(ir::NodeKind::Min, a, b); }
    Expr upper_of(const Expr &a, const Expr &b) { return make(ir::NodeKind::Max, a, b); }
    Interval unite(const Interval &a, const Interval &b);
    // The tighter ends of two intervals that are both right.
    Interval tighter(const Interval &a, const Interval &b);
    Interval of_type(Type t);
    ConstantInterval constants(const Interval &i);
    Interval of_constants(Type t, const ConstantInterval &c);
    static bool is_several(const ir::IntrinsicCall &c);
    // Returns true if the value is one that an end of an interval may name: no variable of the
    // scope in it, and nothing that could be elsewhere another value.
    bool is_point(const Expr &e);
    Interval bounds(const Expr &e);
    Interval within_known(Interval i, Type t, const ConstantInterval &known);
    Interval compute(const Expr &e);
    // The largest (smallest) value of a sum: each term at its own end, which is right whether or
    // not terms depend on each other; and, where putting an operand of a min, max or select in its
    // place lets terms cancel, that.
    Expr end_of_sum(const LinearForm &f, Type t, bool upper, int cases);
    Expr tighter_end(const Expr &a, const Expr &b, bool upper);
    std::optional<LinearForm> replaced(const LinearForm &f, const LinearTerm &t, const Expr &u);
    // Unknown where the numbers in it add up to none of its type: an operand of a min or max that
    // is put in its place may be the largest there is.
    Expr sum_of_ends(const LinearForm &f, Type t, bool upper);
    Interval of_variable(const ir::Variable &v);
    bool can_wrap(Type t, const ConstantInterval &c);
    Interval arithmetic(const Expr &e);
    // 1: never negative, -1: never positive, 0: unknown.
    int sign_of(const Interval &i);
    // 1: 0 or more, -1: 0 or less; 0: unknown. A NaN has no sign.
    int sign_of_float(const Expr &e, int depth = 0);
    Expr choose(const Expr &condition, const Expr &a, const Expr &b);
    Expr not_negative(const Expr &e) {
        return s.rewriter.make(ir::NodeKind::LE, ir::make_zero(e.type()), e);
    }
    Interval square(const Interval &a);
    Interval product(const Interval &a, const Interval &b);
    // The product with, or quotient by, a float of unknown sign. Ends are chosen by the sign, as
    // the smaller one of both is no end if the other is 0 * infinity, which is not a number.
    Interval scaled(ir::NodeKind op, const Interval &a, const Expr &b);
    // The quotient of floats is smallest or largest at ends of both intervals, if 0 is not within
    // that of the divisor; whether it is may be known only when the code runs.
    Interval division_of_floats(const Interval &a, const Interval &b);
    Interval division(const Expr &x, const Expr &y);
    // From 0 to the divisor, which is rounded up to, and off by what the quotient is rounded by.
    Interval remainder_of_floats(const Interval &a, const Interval &b);
    // The largest absolute value of floats.
    Expr size_of(const Interval &a);
    // More than what a function of the mathematical library is off by, in terms of its value.
    static Expr rounding_of(Type t);
    Interval modulus(const Expr &e);
    Interval min_max(const Interval &a, const Interval &b, ir::NodeKind op);
    Interval of_select(const ir::Select &q);
    static bool is_small(const Expr &e);
    // The bounds of the value where the condition holds: it may narrow the interval of a variable.
    Interval under(const Expr &condition, const Expr &value);
    Interval narrowed_bounds(Symbol name, const Interval &narrowed, const Expr &value);
    static bool fits(Type t, const Expr &end);
    // Rounded as values are in an index.
    Expr strict(const Expr &end) {
        return end.defined() ? s.rewriter.intern(ir::as_strict_float(end)) : end;
    }
    // The cast saturates, as that of the value does. A number that does not fit is no end.
    Expr cast_outer_end(Type t, const Expr &end);
    Interval of_cast(Type t, const Interval &i, const Expr &value);
    // Returns true if this is |a| or |a - b| of coordinates, cast to a signed type as wide.
    // Coordinates are within 2^30, so their distances fit; constants beyond that are no
    // coordinates.
    bool is_distance_that_fits(Type t, const Expr &value);
    Interval comparison(ir::NodeKind op, const Expr &x, const Expr &y);
    Interval logic(const Expr &e);
    Interval of_ramp(const ir::Ramp &r);
    // Ends that are not small get a name, so that a chain of lets stays linear.
    Interval of_let(const Expr &e);
    Expr named_if_deep(const Expr &end);
    Expr named(Symbol name, const Expr &end);
    Expr with_lets(Expr e);
    Interval of_call(const ir::Call &c);
    Interval of_intrinsic(const ir::IntrinsicCall &c);
    // Vectors and scalars may have functions of their own, neither of which is quite monotone.
    Interval nearly(const Interval &i);
    Interval of_abs(Type t, const Interval &a);

    Simplifier s;
    const IntervalScope &outer;
    std::unordered_map<Symbol, Interval> intervals;
    std::unordered_map<const ir::ExprNode *, Interval> memo;
    std::unordered_map<const ir::ExprNode *, bool> points;
    std::vector<Expr> alive;
    std::vector<Symbol> expanding;
    std::vector<Bound> lets;
    std::unordered_map<const ir::ExprNode *, Expr> names;  // of deep ends
    std::unordered_set<Symbol> let_names;
    int depth = 0, narrowed_values = 0;
};

}  // namespace tessera::algebra
