#include "algebra/prove.h"
#include "algebra/bounds_scope.h"
#include "algebra/simplifier.h"
#include "algebra/simplify.h"
#include "ir/equal.h"
#include "ir/expr_table.h"
#include "ir/fields.h"
#include "ir/operators.h"
#include <algorithm>

namespace tessera::algebra {

using namespace ir;

namespace {

constexpr int effort = 400;

// Looks once at what conditions share.
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
            // If one side fails, the other must hold.
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

constexpr int64_t unbounded = ConstantInterval::highest;

bool is_choice(const LinearTerm &t) { return t.atom.as<Min>() || t.atom.as<Max>(); }

// Returns true if the term is largest with whichever operand makes it larger, so that both have to
// be looked at; otherwise each operand by itself gives an upper bound.
bool is_largest_with_one(const LinearTerm &t) {
    return t.coefficient > 0 ? t.atom.as<Max>() != nullptr : t.atom.as<Min>() != nullptr;
}

std::pair<Expr, Expr> sides_of(const LinearTerm &t) {
    if (const auto *m = t.atom.as<Min>()) return {m->a, m->b};
    const auto *m = t.atom.as<Max>();
    return {m->a, m->b};
}

int64_t plus(int64_t bound, int64_t constant) {
    int64_t sum = 0;
    if (bound == unbounded || __builtin_add_overflow(bound, constant, &sum)) return unbounded;
    return sum;
}

uint64_t hash_of(const std::vector<LinearTerm> &terms) {
    uint64_t hash = terms.size();
    for (const LinearTerm &t : terms)
        hash = fields::mix(fields::mix(hash, t.atom.hash()), uint64_t(t.coefficient));
    return hash;
}

// Finds how large a linear form can get whose terms are min and max of nearly the same operands,
// many within one another. The ends of a region that has been clamped several times are such terms.
//
//     max(min(max(min(x + 2, n), 0) + 2, n), 0) - max(min(max(min(x, n), 0), n), 0)   at most 4
//
// It compares each operand of one term with each of the other once, which takes time like the
// product of their sizes, where the search of Decisions would look at each way through both. It
// also knows that quotients of two numbers by the same divisor are no farther apart than the
// numbers.
class Distances {
public:
    explicit Distances(Knowledge &known) : known(known) {}

    // Returns a constant that the form never exceeds; ConstantInterval::highest if none is found.
    int64_t upper_bound(const LinearForm &f);

private:
    int64_t compute(const LinearForm &f);
    int64_t with(const LinearForm &f, const LinearTerm &t, const Expr &operand);
    // These two return the smaller, or the larger, of the bounds with either operand of the term.
    int64_t with_smaller(const LinearForm &f, const LinearTerm &t);
    int64_t with_larger(const LinearForm &f, const LinearTerm &t);
    int64_t without_quotients(const LinearForm &f);

    struct Found {
        std::vector<LinearTerm> terms;
        int64_t bound = 0;  // of their sum
    };
    Knowledge &known;
    std::unordered_map<uint64_t, Found> all;  // the last one of each hash
    int steps = 4000;
};

int64_t Distances::upper_bound(const LinearForm &f) {
    const uint64_t hash = hash_of(f.terms);
    const auto before = all.find(hash);
    if (before != all.end() && before->second.terms == f.terms)
        return plus(before->second.bound, f.constant);
    if (--steps < 0) return unbounded;
    const int64_t bound = compute({f.terms, 0});
    all[hash] = {f.terms, bound};
    return plus(bound, f.constant);
}

int64_t Distances::compute(const LinearForm &f) {
    const auto one = std::ranges::find_if(f.terms, is_largest_with_one);
    if (one != f.terms.end()) return with_larger(f, *one);
    int64_t best = std::min(known.interval(f).max, without_quotients(f));
    if (std::ranges::none_of(f.terms, is_choice)) return std::min(best, known.upper_bound(f));
    for (const LinearTerm &t : f.terms) {
        if (is_choice(t)) best = std::min(best, with_smaller(f, t));
    }
    return best;
}

int64_t Distances::with(const LinearForm &f, const LinearTerm &t, const Expr &operand) {
    const auto g = known.substitute(f, t, operand);
    return g ? upper_bound(*g) : unbounded;
}

int64_t Distances::with_smaller(const LinearForm &f, const LinearTerm &t) {
    const auto [a, b] = sides_of(t);
    return std::min(with(f, t, a), with(f, t, b));
}

// Two terms c * (a / d) and -c * (b / d), where a - b is a constant, come to |c * (a - b)| at most,
// whatever d is. Returns that and the bound of the other terms.
int64_t Distances::without_quotients(const LinearForm &f) {
    int64_t best = unbounded;
    for (size_t i = 0; i < f.terms.size(); i++) {
        for (size_t j = i + 1; j < f.terms.size(); j++) {
            const LinearTerm &t = f.terms[i], &u = f.terms[j];
            const auto *a = t.atom.as<Div>(), *b = u.atom.as<Div>();
            if (!a || !b || t.coefficient != -u.coefficient || !equal(a->b, b->b)) continue;
            const auto apart = add(known.exact_form(a->a), known.exact_form(b->a), -1);
            int64_t most = 0;
            if (!apart || !apart->is_constant() ||
                __builtin_mul_overflow(t.coefficient, apart->constant, &most) ||
                most == INT64_MIN) {
                continue;
            }
            LinearForm rest = f;
            rest.terms.erase(rest.terms.begin() + ptrdiff_t(j));
            rest.terms.erase(rest.terms.begin() + ptrdiff_t(i));
            best = std::min(best, plus(upper_bound(rest), std::abs(most)));
        }
    }
    return best;
}

int64_t Distances::with_larger(const LinearForm &f, const LinearTerm &t) {
    const auto [a, b] = sides_of(t);
    const int64_t first = with(f, t, a);
    return first == unbounded ? first : std::max(first, with(f, t, b));
}

}  // namespace

bool can_prove(const Expr &condition, const Facts &facts) {
    if (is_true(condition)) return true;
    return Prover(facts).run(condition);
}

namespace {

const Facts nothing_known;
thread_local Simplifier *shared_bounds = nullptr;

std::optional<int64_t> upper_bound_by(Simplifier &s, const Expr &e) {
    const Expr simple = s(e);
    if (!s.known.is_pure(simple)) return std::nullopt;
    int64_t bound = is_exact(e.type()) ? s.known.upper_bound(s.known.exact_form(simple))
                                       : s.known.interval(simple).max;
    if (bound == ConstantInterval::highest && is_exact(e.type()))
        bound = Distances(s.known).upper_bound(s.known.exact_form(simple));
    if (bound == ConstantInterval::highest) return std::nullopt;
    return bound;
}

std::optional<int64_t> lower_bound_by(Simplifier &s, const Expr &e) {
    const Expr simple = s(e);
    if (!s.known.is_pure(simple)) return std::nullopt;
    int64_t bound = is_exact(e.type()) ? s.known.lower_bound(s.known.exact_form(simple))
                                       : s.known.interval(simple).min;
    if (bound == ConstantInterval::lowest && is_exact(e.type())) {
        const auto negated = scale(s.known.exact_form(simple), -1);
        const int64_t most =
            negated ? Distances(s.known).upper_bound(*negated) : ConstantInterval::highest;
        if (most != ConstantInterval::highest) bound = -most;
    }
    if (bound == ConstantInterval::lowest) return std::nullopt;
    return bound;
}

template<typename Find>
std::optional<int64_t> find_bound(const Expr &e, const Facts &facts, Find find) {
    if (auto c = as_const_int(e)) return c;
    if (!e.type().is_int_or_uint()) return std::nullopt;
    if (shared_bounds && facts.empty()) return find(*shared_bounds, e);
    Simplifier s(facts, effort);
    return find(s, e);
}

}  // namespace

BoundsScope::BoundsScope()
    : simplifier(std::make_unique<Simplifier>(nothing_known, effort)), around(shared_bounds) {
    shared_bounds = simplifier.get();
}

BoundsScope::~BoundsScope() { shared_bounds = around; }

std::optional<int64_t> constant_upper_bound(const Expr &e, const Facts &facts) {
    return find_bound(e, facts, upper_bound_by);
}

std::optional<int64_t> constant_lower_bound(const Expr &e, const Facts &facts) {
    return find_bound(e, facts, lower_bound_by);
}

std::optional<int64_t> constant_value(const Expr &e, const Facts &facts) {
    if (auto c = as_const_int(e)) return c;
    if (!e.type().is_int_or_uint()) return std::nullopt;
    return as_const_int(simplify(e, facts));
}

}  // namespace tessera::algebra
