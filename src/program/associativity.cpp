#include "program/associativity.h"
#include "ir/equal.h"
#include "ir/mutator.h"
#include "ir/never_nan.h"
#include "ir/operators.h"
#include "ir/unify.h"
#include "ir/visitor_inl.h"
#include <algorithm>
#include <cmath>

namespace tessera::program {
namespace {

using ir::equal;

// Calls of the function's own values at the place that is written, made variables.
class OldValues final : public ir::Mutator {
public:
    OldValues(const FunctionContents &f, const Definition &d, const std::vector<Symbol> &xs)
        : f(f), d(d), xs(xs) {}
    bool only_own_place = true;

private:
    Expr visit(const ir::Call &c) override {
        if (c.call_kind != CallKind::Func || c.callee != f.name) return Mutator::visit(c);
        for (size_t i = 0; i < c.args.size(); i++) only_own_place &= equal(c.args[i], d.args[i]);
        return ir::Variable::make(c.type, xs[size_t(c.value_index)]);
    }
    const FunctionContents &f;
    const Definition &d;
    const std::vector<Symbol> &xs;
};

// Holds what is known of one value: op(x, y), in terms of the symbols, and its identity.
struct Operator {
    Expr op, identity, y;
    bool commutative = true;
};

// Says what `select(comparison of x and y, x or y, the other)` has been found to choose.
struct Choice {
    Expr key_y, own_y;
    bool tie_takes_y = false;
};

class Prover {
public:
    Prover(std::vector<Expr> values, std::vector<Symbol> xs, std::vector<Symbol> ys,
           std::vector<bool> numbers, Dialect dialect)
        : values(std::move(values)), xs(std::move(xs)), ys(std::move(ys)),
          numbers(std::move(numbers)), dialect(dialect) {}
    bool prove();
    std::vector<Operator> found;

private:
    Expr x(size_t i) const { return ir::Variable::make(values[i].type(), xs[i]); }
    Expr y(size_t i) const { return ir::Variable::make(values[i].type(), ys[i]); }
    bool is_x(const Expr &e, size_t i) const {
        const auto *v = e.as<ir::Variable>();
        return v && v->name == xs[i];
    }
    bool uses_x(const Expr &e) const {
        return std::any_of(xs.begin(), xs.end(), [&](Symbol s) { return ir::uses_symbol(e, s); });
    }

    bool combined(size_t i, const Expr &op, const Expr &identity);
    bool combined_bits(size_t i);
    bool extremum(size_t i);
    bool by_itself(size_t i);
    bool overwrite(size_t i);
    bool arg_extremum();
    bool complex_product();
    // `select` of the x or the y of a value, by comparing those of the key.
    bool chosen_by(size_t key, size_t i, bool want_smaller, Choice &choice) const;

    // Returns the value that leaves any y as it is. Infinity does so only where the x is a number,
    // since the extremum of infinity and a NaN is infinity; a NaN always does.
    Expr identity_of_extremum(size_t i, bool smaller) const {
        const Type t = values[i].type();
        if (t.is_float() && !numbers[i]) return ir::make_float_const(t, NAN);
        return smaller ? t.max() : t.min();
    }

    std::vector<Expr> values;
    std::vector<Symbol> xs, ys;
    std::vector<bool> numbers;  // by value: whether the x is never a NaN
    Dialect dialect;
};

// The value is x, once and by itself, combined by the operation of x and y with what has no x.
bool Prover::combined(size_t i, const Expr &op, const Expr &identity) {
    const auto all = ir::unify(op, values[i], std::span(&ys[i], 1));
    if (!all || uses_x(all->at(ys[i]))) return false;
    found[i] = {op, identity, all->at(ys[i])};
    return true;
}

bool Prover::combined_bits(size_t i) {
    const Type t = values[i].type();
    auto op = [&](ir::Intrinsic of) { return ir::call(t, of, {x(i), y(i)}); };
    const Expr all_bits = t.is_uint() ? t.max() : ir::make_const(t, -1), zero = ir::make_zero(t);
    return combined(i, op(ir::Intrinsic::bitwise_and), all_bits) ||
           combined(i, op(ir::Intrinsic::bitwise_or), zero) ||
           combined(i, op(ir::Intrinsic::bitwise_xor), zero) ||
           (t.is_uint() && combined(i, op(ir::Intrinsic::saturating_add), zero));
}

// The y of `select(comparison of x and y, x or y, the other)` for the key, if the smaller (larger)
// of both is chosen; for another value, what it becomes when the key's y is chosen.
bool Prover::chosen_by(size_t key, size_t i, bool want_smaller, Choice &choice) const {
    const auto *select = values[i].as<ir::Select>();
    if (!select) return false;
    Expr small, large;  // condition: small < large or small <= large
    if (const auto *lt = select->condition.as<ir::LT>()) small = lt->a, large = lt->b;
    if (const auto *le = select->condition.as<ir::LE>()) small = le->a, large = le->b;
    if (const auto *gt = select->condition.as<ir::GT>()) small = gt->b, large = gt->a;
    if (const auto *ge = select->condition.as<ir::GE>()) small = ge->b, large = ge->a;
    if (!small.defined()) return false;
    bool tie_is_true = select->condition.as<ir::LE>() || select->condition.as<ir::GE>();
    bool x_small = is_x(small, key), x_large = is_x(large, key);
    if (x_small == x_large) return false;
    Expr other = x_small ? large : small;
    if (uses_x(other)) return false;
    bool takes_x = is_x(select->true_value, i);
    const Expr &taken = takes_x ? select->false_value : select->true_value;
    if (!takes_x && !is_x(select->false_value, i)) return false;
    if (uses_x(taken)) return false;
    if ((x_small == takes_x) != want_smaller) return false;
    if (choice.key_y.defined() && !equal(choice.key_y, other)) return false;
    if (i == key && !equal(taken, other)) return false;
    choice = {other, taken, tie_is_true != takes_x};
    return true;
}

bool Prover::extremum(size_t i) {
    Type t = values[i].type();
    for (bool smaller : {true, false}) {
        Choice choice;
        if (!chosen_by(i, i, smaller, choice)) continue;
        Expr op = smaller ? ir::min(x(i), y(i)) : ir::max(x(i), y(i));
        // No comparison finds anything better than an x that is a NaN, while min and max leave it
        // out.
        if (t.is_float() && !numbers[i])
            op = ir::select(smaller ? y(i) < x(i) : y(i) > x(i), y(i), x(i));
        found[i] = {op, smaller ? t.max() : t.min(), choice.own_y};
        return true;
    }
    return false;
}

bool Prover::overwrite(size_t i) {
    if (is_x(values[i], i)) {
        found[i] = {x(i), ir::make_zero(values[i].type()), ir::make_zero(values[i].type())};
        return true;
    }
    if (uses_x(values[i])) return false;
    found[i] = {y(i), Expr(), values[i], false};
    return true;
}

bool Prover::by_itself(size_t i) {
    const Type t = values[i].type();
    if (t.is_handle()) return false;
    const Expr zero = ir::make_zero(t);
    if (t.is_bool()) {
        return overwrite(i) || combined(i, x(i) && y(i), ir::const_true()) ||
               combined(i, x(i) || y(i), ir::const_false()) || combined_bits(i);
    }
    return overwrite(i) || combined(i, x(i) + y(i), zero) ||
           combined(i, x(i) * y(i), ir::make_one(t)) ||
           combined(i, ir::min(x(i), y(i)), identity_of_extremum(i, true)) ||
           combined(i, ir::max(x(i), y(i)), identity_of_extremum(i, false)) ||
           (t.is_int_or_uint() && combined_bits(i)) || extremum(i);
}

// If several are the smallest, the first is taken, or the last: all values have to agree which, and
// their order matters. The last one has no identity: a key may be as large as that of one. By
// Halide's rules that is the caller's business.
bool Prover::arg_extremum() {
    for (size_t key = 0; key < values.size(); key++) {
        for (bool smaller : {true, false}) {
            Choice choice;
            Expr &key_y = choice.key_y;
            std::vector<Expr> own(values.size());
            std::optional<bool> last;
            const auto *as_min = values[key].as<ir::Min>();
            const auto *as_max = values[key].as<ir::Max>();
            if (smaller && as_min) key_y = is_x(as_min->a, key) ? as_min->b : as_min->a;
            if (!smaller && as_max) key_y = is_x(as_max->a, key) ? as_max->b : as_max->a;
            bool all = true, key_is_extremum = key_y.defined();
            if (key_is_extremum && uses_x(key_y)) continue;
            // From a key that is a NaN, min and max go on to the first number; which value came
            // with it depends on the order.
            if (key_is_extremum && values[key].type().is_float() && !numbers[key]) continue;
            if (key_is_extremum) own[key] = key_y;
            for (size_t i = 0; i < values.size() && all; i++) {
                if (i == key && key_is_extremum) continue;
                all = chosen_by(key, i, smaller, choice);
                own[i] = choice.own_y;
                if (i == key) continue;  // either is as good
                all &= last.value_or(choice.tie_takes_y) == choice.tie_takes_y;
                last = choice.tie_takes_y;
            }
            if (!all) continue;
            Expr better = smaller ? y(key) < x(key) : x(key) < y(key);
            Expr as_good = smaller ? y(key) <= x(key) : x(key) <= y(key);
            bool takes_last = last.value_or(false);
            Expr takes_y = takes_last ? as_good : better;
            for (size_t i = 0; i < values.size(); i++) {
                Type t = values[i].type();
                Expr identity = i != key ? ir::make_zero(t) : smaller ? t.max() : t.min();
                if (takes_last && dialect != Dialect::Halide) identity = {};
                Expr op = ir::select(takes_y, y(i), x(i));
                if (i == key && key_is_extremum)
                    op = smaller ? ir::min(x(i), y(i)) : ir::max(x(i), y(i));
                found[i] = {op, identity, own[i], values.size() == 1};
            }
            return true;
        }
    }
    return false;
}

// (x0 + x1 i) * (a + b i) = (x0 a - x1 b) + (x0 b + x1 a) i
bool Prover::complex_product() {
    if (values.size() != 2 || values[0].type() != values[1].type()) return false;
    auto factor = [&](const Expr &e, size_t i) -> Expr {
        const auto *mul = e.as<ir::Mul>();
        if (!mul) return {};
        if (is_x(mul->a, i) && !uses_x(mul->b)) return mul->b;
        if (is_x(mul->b, i) && !uses_x(mul->a)) return mul->a;
        return {};
    };
    const auto *real = values[0].as<ir::Sub>();
    const auto *imaginary = values[1].as<ir::Add>();
    if (!real || !imaginary) return false;
    Expr a = factor(real->a, 0), b = factor(real->b, 1);
    Expr p = imaginary->a, q = imaginary->b;
    if (!factor(p, 0).defined()) std::swap(p, q);
    Expr b2 = factor(p, 0), a2 = factor(q, 1);
    if (!a.defined() || !b.defined() || !a2.defined() || !b2.defined()) return false;
    if (!equal(a, a2) || !equal(b, b2)) return false;
    Type t = values[0].type();
    found[0] = {x(0) * y(0) - x(1) * y(1), ir::make_one(t), a};
    found[1] = {x(0) * y(1) + x(1) * y(0), ir::make_zero(t), b};
    return true;
}

bool Prover::prove() {
    found.assign(values.size(), {});
    bool all = true;
    for (size_t i = 0; i < values.size() && all; i++) all = by_itself(i);
    return all || arg_extremum() || complex_product();
}

}  // namespace

bool AssociativeUpdate::has_identities() const {
    return std::all_of(identities.begin(), identities.end(),
                       [](const Expr &e) { return e.defined(); });
}

// Returns true if value i of f is no NaN when the update d begins.
static bool is_number_before(const FunctionContents &f, const Definition &d, size_t i) {
    ir::NeverNan is_number([&](const Expr &leaf) {
        const auto *c = leaf.as<ir::Call>();
        return c && c->call_kind == CallKind::Func && c->callee == f.name &&
               size_t(c->value_index) == i;
    });
    if (f.has_extern_definition()) return false;
    for (const DefinitionRef &stage : f.stages) {
        if (stage.get() == &d) return true;
        if (!is_number(stage->values[i])) return false;
    }
    return true;
}

std::optional<AssociativeUpdate> prove_associativity(const FunctionContents &f,
                                                     const Definition &d) {
    AssociativeUpdate result;
    for (size_t i = 0; i < d.values.size(); i++) {
        result.xs.push_back(Symbol::fresh(str("x", i)));
        result.ys.push_back(Symbol::fresh(str("y", i)));
    }
    OldValues old(f, d, result.xs);
    std::vector<Expr> values;
    for (const Expr &v : d.values) values.push_back(old(v));
    bool args_use_f = false;
    auto check = [&](const Expr &e) {
        ir::for_each_node(e, [&](const ir::Call &c) {
            args_use_f |= c.call_kind == CallKind::Func && c.callee == f.name;
        });
    };
    for (const Expr &a : d.args) check(a);
    if (d.predicate.defined()) check(d.predicate);
    if (!old.only_own_place || args_use_f) return std::nullopt;
    std::vector<bool> numbers;
    for (size_t i = 0; i < values.size(); i++) numbers.push_back(is_number_before(f, d, i));
    Prover prover(values, result.xs, result.ys, std::move(numbers), f.dialect);
    if (!prover.prove()) return std::nullopt;
    result.commutative = true;
    for (const Operator &o : prover.found) {
        result.operators.push_back(o.op);
        result.identities.push_back(o.identity);
        result.new_values.push_back(o.y);
        result.commutative &= o.commutative;
    }
    return result;
}

}  // namespace tessera::program
