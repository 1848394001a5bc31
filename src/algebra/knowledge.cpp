#include "algebra/knowledge.h"
#include "ir/operators.h"

namespace tessera::algebra {

using namespace ir;

void Knowledge::bind(Symbol s, const Interval &i) {
    KnownVariable k;
    if (i.min.defined()) {
        k.constants.min = interval(i.min).min;
        if (is_stable(i.min)) k.symbolic.min = i.min;
    }
    if (i.max.defined()) {
        k.constants.max = interval(i.max).max;
        if (is_stable(i.max)) k.symbolic.max = i.max;
    }
    if (k.symbolic.min.defined() || k.symbolic.max.defined()) {
        k.trend = trends.between(k.symbolic, k.constants, s);
    }
    facts.set(s, std::move(k));
}

void Knowledge::bind_value(Symbol s, const Expr &value) {
    KnownVariable k = info.variable_of(value);
    if (k.value.defined()) k.trend = trends.of(value);
    facts.set(s, std::move(k));
}

void Knowledge::replace(Symbol s, const Expr &value) {
    KnownVariable k;
    k.replacement = value;
    facts.set(s, std::move(k));
}

void Knowledge::learn(const Expr &condition, const Expr &opposite) {
    facts.add_truth(condition);
    if (!is_const(opposite)) facts.add_falsehood(opposite);
    learn_comparison(condition);
}

void Knowledge::learn_inequalities(const Expr &condition) {
    if (is_likely(condition)) {
        learn_inequalities(condition.as<IntrinsicCall>()->args[0]);
    } else if (const auto *a = condition.as<And>()) {
        learn_inequalities(a->a);
        learn_inequalities(a->b);
    } else if (is_pure(condition) && is_stable(condition)) {
        learn_comparison(condition);
    }
}

void Knowledge::learn_comparison(const Expr &condition) {
    auto difference = [&](const Expr &big, const Expr &small, int64_t less) {
        if (!is_exact(big.type()) || big.type().is_vector()) return;
        auto f = add(exact_form(big), exact_form(small), -1);
        if (f) f = add(*f, LinearForm{{}, less}, -1);
        if (f) learn_inequality(*f);
    };
    if (const auto *n = condition.as<LT>()) difference(n->b, n->a, 1);
    if (const auto *n = condition.as<LE>()) difference(n->b, n->a, 0);
    if (const auto *n = condition.as<EQ>()) {
        difference(n->a, n->b, 0);
        difference(n->b, n->a, 0);
    }
}

void Knowledge::learn_inequality(const LinearForm &f) {
    decisions.forget();
    Trend trend = trends.of(with_values(f));
    facts.add_inequality(f, trend.rising | trend.falling);
    if (f.terms.size() == 1) narrow(f.terms[0], f.constant);
}

// c * atom + constant >= 0
void Knowledge::narrow(const LinearTerm &t, int64_t constant) {
    ConstantInterval i = interval(t.atom);
    int64_t size = std::abs(t.coefficient);
    if (constant == ConstantInterval::lowest) return;
    if (t.coefficient > 0) i.min = std::max(i.min, ceil_div(-constant, size));
    if (t.coefficient < 0) i.max = std::min(i.max, floor_div(constant, size));
    if (i.min > i.max) return;
    facts.set_interval(t.atom, i);
    info.forget(t.atom);
}

}  // namespace tessera::algebra
