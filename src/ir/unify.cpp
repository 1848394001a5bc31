#include "ir/unify.h"
#include "ir/equal.h"
#include "ir/fields.h"
#include "ir/match.h"
#include "ir/operands.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include <algorithm>
#include <utility>

namespace tessera::ir {
namespace {

bool commutes(const IntrinsicCall &c) {
    switch (c.op) {
    case Intrinsic::bitwise_and:
    case Intrinsic::bitwise_or:
    case Intrinsic::bitwise_xor: return true;
    // With signed numbers it commutes, but may not be grouped in another way.
    case Intrinsic::saturating_add: return c.type.is_uint();
    default: return false;
    }
}

// An operation whose operands may stand in any order, nested ones included.
struct Operation {
    NodeKind kind;
    Intrinsic intrinsic = Intrinsic::abs;  // of an IntrinsicCall
    friend bool operator==(const Operation &, const Operation &) = default;
};

std::optional<Operation> operation_of(const Expr &e) {
    switch (e.kind()) {
    case NodeKind::Sub: return Operation{NodeKind::Add};
    case NodeKind::Add:
    case NodeKind::Mul:
    case NodeKind::Min:
    case NodeKind::Max:
    case NodeKind::And:
    case NodeKind::Or: return Operation{e.kind()};
    default: break;
    }
    const auto *c = e.as<IntrinsicCall>();
    if (!c || !commutes(*c)) return std::nullopt;
    return Operation{NodeKind::IntrinsicCall, c->op};
}

struct Operand {
    Expr e;
    bool is_negative = false;  // of a sum
};

void flatten(const Expr &e, const Operation &op, bool is_negative, std::vector<Operand> &all) {
    if (operation_of(e) != op) {
        all.push_back({e, is_negative});
        return;
    }
    bool is_first = true;
    for_each_operand(e, [&](const Expr &operand) {
        const bool is_taken_away = !std::exchange(is_first, false) && e.kind() == NodeKind::Sub;
        flatten(operand, op, is_negative != is_taken_away, all);
    });
}

// All operands, as one expression.
Expr joined(const Expr &like, const Operation &op, const std::vector<Operand> &operands) {
    const bool is_difference = operands[0].is_negative;
    Expr all = is_difference ? make_zero(like.type()) - operands[0].e : operands[0].e;
    for (const Operand &o : std::span(operands).subspan(1)) {
        if (op.kind == NodeKind::Add) {
            all = o.is_negative ? Sub::make(all, o.e) : Add::make(all, o.e);
        } else if (op.kind == NodeKind::IntrinsicCall) {
            all = call(like.type(), op.intrinsic, {all, o.e});
        } else {
            const auto join = [&]<typename T>(const T &) { all = T::make(all, o.e); };
            match(
                like, [&](const Mul &n) { return join(n), 0; },
                [&](const Min &n) { return join(n), 0; }, [&](const Max &n) { return join(n), 0; },
                [&](const And &n) { return join(n), 0; }, [&](const Or &n) { return join(n), 0; },
                otherwise(0));
        }
    }
    return all;
}

class Unification {
public:
    explicit Unification(std::span<const Symbol> holes) : holes(holes) {}
    Substitution found;

    // Pairs of a pattern and what it is to be.
    struct Goal {
        Expr pattern, e;
    };
    using Goals = std::vector<Goal>;

    bool solve(Goals goals) {
        if (goals.empty()) return true;
        const auto [pattern, e] = goals.back();
        goals.pop_back();
        if (pattern.type() != e.type()) return false;
        if (const Variable *hole = as_hole(pattern)) return put_in(*hole, e, goals);
        if (!has_hole(pattern) && equal(pattern, e)) return solve(std::move(goals));
        if (auto op = operation_of(pattern)) return solve_operands(*op, pattern, e, goals);
        return is_same_node(pattern, e, goals) && solve(std::move(goals));
    }

private:
    const Variable *as_hole(const Expr &e) const {
        const auto *v = e.as<Variable>();
        return v && std::ranges::find(holes, v->name) != holes.end() ? v : nullptr;
    }
    bool has_hole(const Expr &e) const {
        return std::ranges::any_of(holes, [&](Symbol hole) { return uses_symbol(e, hole); });
    }

    bool put_in(const Variable &hole, const Expr &e, const Goals &goals) {
        const auto [known, is_new] = found.try_emplace(hole.name, e);
        if (!is_new) return equal(known->second, e) && solve(goals);
        if (solve(goals)) return true;
        found.erase(hole.name);
        return false;
    }

    bool solve_operands(const Operation &op, const Expr &pattern, const Expr &e,
                        const Goals &goals) {
        std::vector<Operand> wanted, there;
        flatten(pattern, op, false, wanted);
        flatten(e, op, false, there);
        // An operand that is a hole by itself may be anything, and so comes last.
        std::ranges::stable_partition(wanted, [&](const Operand &o) { return !as_hole(o.e); });
        return solve_rest(op, pattern, wanted, there, goals);
    }

    // False if it is seen at once, before the rest is looked at.
    bool may_be(const Expr &pattern, const Expr &e) const {
        if (as_hole(pattern)) return pattern.type() == e.type();
        if (pattern.kind() != e.kind() && !operation_of(pattern)) return false;
        return !pattern.as<Variable>() || equal(pattern, e);
    }

    // The first of the wanted operands is one of those that are there, or, a hole that is the last
    // one, all of them.
    bool solve_rest(const Operation &op, const Expr &like, std::span<const Operand> wanted,
                    const std::vector<Operand> &there, const Goals &goals) {
        if (wanted.empty()) return there.empty() && solve(goals);
        if (there.empty()) return false;
        const Operand &first = wanted[0];
        if (wanted.size() == 1 && as_hole(first.e)) {
            std::vector<Operand> rest = there;
            for (Operand &o : rest) o.is_negative ^= first.is_negative;
            Goals more = goals;
            more.push_back({first.e, joined(like, op, rest)});
            return solve(std::move(more));
        }
        for (size_t i = 0; i < there.size(); i++) {
            if (there[i].is_negative != first.is_negative || !may_be(first.e, there[i].e)) continue;
            std::vector<Operand> rest = there;
            rest.erase(rest.begin() + std::ptrdiff_t(i));
            Goals more = goals;
            more.push_back({first.e, there[i].e});
            if (solve_rest(op, like, wanted.subspan(1), rest, more)) return true;
        }
        return false;
    }

    static bool is_same_node(const Expr &pattern, const Expr &e, Goals &goals) {
        if (pattern.kind() != e.kind()) return false;
        auto same_child = [&](const auto &a, const auto &b) {
            goals.push_back({a, b});
            return true;
        };
        auto same_symbol = [](Symbol a, Symbol b) { return a == b; };
        auto same_fields = [&](const auto &a, const auto &b) {
            using T = std::decay_t<decltype(a)>;
            return T::Fields::apply([&](auto... f) {
                return (fields::equal(a.*f, b.*f, same_child, same_symbol) && ...);
            });
        };
        switch (pattern.kind()) {
#define CASE(T)                                                                                    \
    case NodeKind::T: return same_fields(*pattern.as<T>(), *e.as<T>());
            TESSERA_EXPR_NODES(CASE)
#undef CASE
        default: return false;
        }
    }

    std::span<const Symbol> holes;
};

}  // namespace

std::optional<Substitution> unify(const Expr &pattern, const Expr &e,
                                  std::span<const Symbol> holes) {
    Unification unification(holes);
    if (!unification.solve({{pattern, e}})) return std::nullopt;
    return std::move(unification.found);
}

}  // namespace tessera::ir
