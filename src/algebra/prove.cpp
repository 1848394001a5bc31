#include "algebra/prove.h"
#include "algebra/simplifier.h"
#include "algebra/simplify.h"
#include "ir/expr_table.h"
#include "ir/operators.h"

namespace tessera::algebra {

using namespace ir;

namespace {

constexpr int effort = 400;

// What conditions share is looked at once.
class Prover {
public:
    explicit Prover(const Facts &facts) : s(facts, effort) {}
    bool run(const Expr &condition) { return prove(s(condition)); }

private:
    bool prove(const Expr &e) {
        return known.get(e, [&] { return find(e); });
    }
    bool find(const Expr &e) {
        if (is_true(e)) return true;
        if (const auto *a = e.as<And>()) return prove(a->a) && prove(a->b);
        if (const auto *o = e.as<Or>()) {
            // Where one side fails, the other must hold.
            if (prove(o->a) || prove(o->b)) return true;
            s.known.enter(true);
            s.learn(s.rewriter.make_not(o->a));
            bool proven = is_true(s(o->b));
            s.known.leave();
            return proven;
        }
        if (const auto *q = e.as<Select>()) return prove(q->true_value) && prove(q->false_value);
        if (is_likely(e)) return prove(e.as<IntrinsicCall>()->args[0]);
        return false;
    }
    Simplifier s;
    ExprTable<bool> known;
};

}  // namespace

bool can_prove(const Expr &condition, const Facts &facts) {
    if (is_true(condition)) return true;
    return Prover(facts).run(condition);
}

std::optional<int64_t> constant_upper_bound(const Expr &e, const Facts &facts) {
    if (auto c = as_const_int(e)) return c;
    if (!e.type().is_int_or_uint()) return std::nullopt;
    Simplifier s(facts, effort);
    Expr simple = s(e);
    if (!s.known.is_pure(simple)) return std::nullopt;
    int64_t bound = is_exact(e.type()) ? s.known.upper_bound(s.known.form(simple))
                                       : s.known.interval(simple).max;
    if (bound == ConstantInterval::highest) return std::nullopt;
    return bound;
}

std::optional<int64_t> constant_lower_bound(const Expr &e, const Facts &facts) {
    if (auto c = as_const_int(e)) return c;
    if (!e.type().is_int_or_uint()) return std::nullopt;
    Simplifier s(facts, effort);
    Expr simple = s(e);
    if (!s.known.is_pure(simple)) return std::nullopt;
    int64_t bound = is_exact(e.type()) ? s.known.lower_bound(s.known.form(simple))
                                       : s.known.interval(simple).min;
    if (bound == ConstantInterval::lowest) return std::nullopt;
    return bound;
}

std::optional<int64_t> constant_value(const Expr &e, const Facts &facts) {
    if (auto c = as_const_int(e)) return c;
    if (!e.type().is_int_or_uint()) return std::nullopt;
    return as_const_int(simplify(e, facts));
}

}  // namespace tessera::algebra
