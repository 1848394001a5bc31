#include "algebra/support.h"
#include "algebra/fold.h"
#include "algebra/walk.h"
#include "ir/operators.h"

namespace tessera::algebra::testing {

using namespace ir;

namespace {

using Lanes = std::vector<Expr>;

class Evaluator {
public:
    Evaluator(Values values, Overflow overflow) : values(std::move(values)), overflow(overflow) {}

    std::optional<Lanes> run(const Expr &e) {
        auto found = memo.find(e.get());
        if (found != memo.end()) return found->second;
        auto result = compute(e);
        memo[e.get()] = result;
        kept.push_back(e);
        return result;
    }

private:
    std::optional<Lanes> compute(const Expr &e) {
        if (const auto *v = e.as<Variable>()) {
            auto found = values.find(v->name);
            if (found == values.end()) return std::nullopt;
            return Lanes(size_t(e.type().lanes()), found->second);
        }
        if (const auto *load = e.as<Load>()) {
            auto found = values.find(load->buffer);
            if (found == values.end()) return std::nullopt;
            return Lanes{found->second};
        }
        if (const auto *let = e.as<Let>()) {
            auto value = run(let->value);
            if (!value || value->size() != 1) return std::nullopt;
            values[let->name] = value->at(0);
            return run(let->body);
        }
        if (const auto *b = e.as<Broadcast>()) {
            auto value = run(b->value);
            if (!value) return std::nullopt;
            Lanes lanes;
            for (int i = 0; i < b->lanes; i++)
                lanes.insert(lanes.end(), value->begin(), value->end());
            return lanes;
        }
        if (const auto *r = e.as<Ramp>()) return ramp(*r);
        if (const auto *s = e.as<Shuffle>()) return shuffle(*s);
        if (is_const(e)) return Lanes{e};
        return lane_by_lane(e);
    }

    std::optional<Lanes> ramp(const Ramp &r) {
        auto base = run(r.base), stride = run(r.stride);
        if (!base || !stride) return std::nullopt;
        Lanes lanes;
        for (int i = 0; i < r.lanes; i++) {
            for (size_t j = 0; j < base->size(); j++) {
                Expr steps = folded(Mul::make(stride->at(j), make_const(stride->at(j).type(), i)));
                if (!steps.defined()) return std::nullopt;
                Expr sum = folded(Add::make(base->at(j), steps));
                if (!sum.defined()) return std::nullopt;
                lanes.push_back(sum);
            }
        }
        return lanes;
    }

    std::optional<Lanes> shuffle(const Shuffle &s) {
        Lanes all, lanes;
        for (const Expr &v : s.vectors) {
            auto value = run(v);
            if (!value) return std::nullopt;
            all.insert(all.end(), value->begin(), value->end());
        }
        for (int i : s.indices) lanes.push_back(all[size_t(i)]);
        return lanes;
    }

    std::optional<Lanes> lane_by_lane(const Expr &e) {
        std::vector<Lanes> operands;
        bool ok = true;
        for_each_operand(e, [&](const Expr &o) {
            auto value = run(o);
            ok &= value.has_value();
            if (ok) operands.push_back(*value);
        });
        if (!ok) return std::nullopt;
        Lanes lanes;
        for (int i = 0; i < e.type().lanes(); i++) {
            size_t next = 0;
            auto lane = [&](const Expr &) {
                const Lanes &l = operands[next++];
                return l.size() == 1 ? l[0] : l[size_t(i)];
            };
            Expr scalar;
            if (const auto *c = e.as<Cast>()) {
                scalar = Cast::make(c->type.element_of(), lane(c->value));
            } else if (const auto *c = e.as<IntrinsicCall>()) {
                std::vector<Expr> args;
                for (const Expr &a : c->args) args.push_back(lane(a));
                scalar = IntrinsicCall::make(c->type.element_of(), c->op, args);
            } else {
                scalar = map_operands(e, lane);
            }
            Expr value = folded(scalar);
            if (!value.defined()) return std::nullopt;
            lanes.push_back(value);
        }
        return lanes;
    }

    // The low bits of a sum or product do not depend on its type: it is computed as that of
    // unsigned numbers.
    Expr folded(const Expr &scalar) {
        Expr value = fold_constants(scalar);
        const Type t = scalar.type();
        const bool wraps = overflow == Overflow::Wraps && t.is_int() && t.bits() >= 32;
        if (value.defined() || !wraps) return value;
        auto as = [](Type type, const Expr &e) { return fold_constants(Cast::make(type, e)); };
        const Type bits = UInt(t.bits());
        auto binary = [&](auto make, const Expr &a, const Expr &b) {
            return as(t, fold_constants(make(as(bits, a), as(bits, b))));
        };
        if (const auto *n = scalar.as<Add>()) return binary(Add::make, n->a, n->b);
        if (const auto *n = scalar.as<Sub>()) return binary(Sub::make, n->a, n->b);
        if (const auto *n = scalar.as<Mul>()) return binary(Mul::make, n->a, n->b);
        if (const auto *n = scalar.as<Div>()) return n->a;  // the smallest number, by -1
        return {};
    }

    Values values;
    const Overflow overflow;
    std::unordered_map<const ExprNode *, std::optional<Lanes>> memo;
    std::vector<Expr> kept;
};

}  // namespace

std::optional<std::vector<Expr>> evaluate(const Expr &e, Values values, Overflow overflow) {
    return Evaluator(std::move(values), overflow).run(e);
}

Expr extreme_number(Random &random, Type t) {
    if (t.is_bool()) return make_const(t, random.between(0, 1));
    const int64_t low = t.min_int(), high = t.max_int();
    const std::vector<int64_t> picks{
        low, low + 1, low + 5, low / 2, high, high - 1, high - 6, high / 2, high / 2 + 1, high / 3,
        -1,  0,       1,       2,       -2,   3,        100,      -100,     65536};
    return make_const(t, random.chance(80) ? random.pick(picks) : random.between(-50, 50));
}

Expr as_data(const Expr &variable) {
    return Load::make(variable.type(), variable.as<Variable>()->name, make_zero(Int(32)));
}

ExprMaker::ExprMaker(Random &random, Type type) : random(random), type(type) {
    for (const char *name : {"a", "b", "c", "d"}) {
        vars.push_back(Variable::make(type, Symbol::interned(name)));
    }
    for (const char *name : {"p", "q"}) {
        others.push_back(Variable::make(UInt(8), Symbol::interned(name)));
    }
}

Expr ExprMaker::leaf(Type t) {
    if (t.is_vector()) return Broadcast::make(leaf(t.element_of()), t.lanes());
    if (t == type && random.chance(65)) {
        const size_t i = size_t(random.between(0, int64_t(vars.size()) - 1));
        return data && i < inputs ? as_data(vars[i]) : vars[i];
    }
    if (t == UInt(8) && random.chance(65)) return random.pick(others);
    return make_const(t, random.between(-largest_constant / 2, largest_constant));
}

Expr ExprMaker::vector(Type t, int depth) {
    Type s = t.element_of();
    if (random.chance(50)) return Broadcast::make(number(s, depth - 1), t.lanes());
    return Ramp::make(number(s, depth - 1), make_const(s, random.between(-3, 4)), t.lanes());
}

Expr ExprMaker::number(Type t, int depth) {
    if (depth <= 0 || random.chance(8)) return leaf(t);
    if (t.is_vector() && random.chance(25)) return vector(t, depth);
    auto sub = [&] { return number(t, depth - 1); };
    auto constant = [&] {
        return make_const(t, random.between(-2, 12) * (random.chance(10) ? 4 : 1));
    };
    switch (random.between(0, 17)) {
    case 0:
    case 1:
    case 2: return Add::make(sub(), sub());
    case 3:
    case 4: return Sub::make(sub(), sub());
    case 5: return Mul::make(sub(), constant());
    case 6: return random.chance(30) ? Mul::make(sub(), sub()) : Mul::make(constant(), sub());
    case 7:
    case 8: return Div::make(sub(), random.chance(90) ? constant() : sub());
    case 9:
    case 10: return Mod::make(sub(), random.chance(90) ? constant() : sub());
    case 11:
    case 12: return Min::make(sub(), sub());
    case 13:
    case 14: return Max::make(sub(), sub());
    case 15: return Select::make(condition_of(t.lanes(), depth - 1), sub(), sub());
    case 16:
        if (lets && t == type) {
            Expr name = Variable::make(t, Symbol::fresh("let"));
            vars.push_back(name);
            Expr value = [&] {
                vars.pop_back();
                Expr v = sub();
                vars.push_back(name);
                return v;
            }();
            Expr body = sub();
            std::erase_if(vars, [&](const Expr &v) { return v.same_as(name); });
            return Let::make(name.as<Variable>()->name, value, body);
        }
        return random.chance(50) ? likely(sub()) : sub();
    default:
        if (casts && t == type) {
            Type other = random.pick(std::vector<Type>{UInt(8), Int(16), Int(32), UInt(16)});
            if (other != t) return Cast::make(t, number(other, depth - 1));
        }
        if (casts && t != type) return Cast::make(t, number(type, depth - 1));
        return sub();
    }
}

Expr ExprMaker::condition(int depth) { return condition_of(1, depth); }

Expr ExprMaker::condition_of(int lanes, int depth) {
    Type t = type.with_lanes(lanes);
    auto sub = [&] { return number(t, depth - 1); };
    auto cond = [&] { return condition_of(lanes, depth - 1); };
    if (depth <= 0) return LT::make(leaf(t), leaf(t));
    switch (random.between(0, 9)) {
    case 0:
    case 1: return LT::make(sub(), sub());
    case 2:
    case 3: return LE::make(sub(), sub());
    case 4: return EQ::make(sub(), sub());
    case 5: return NE::make(sub(), sub());
    case 6: return And::make(cond(), cond());
    case 7: return Or::make(cond(), cond());
    case 8: return Not::make(cond());
    default: return GE::make(sub(), sub());
    }
}

Expr ExprMaker::value_of(Type t, int64_t spread) {
    return make_const(t, random.between(-spread, spread));
}

Values ExprMaker::values(int64_t spread) {
    Values result;
    for (const Expr &v : vars) result[v.as<Variable>()->name] = value_of(v.type(), spread);
    for (const Expr &v : others) result[v.as<Variable>()->name] = value_of(v.type(), 300);
    return result;
}

}  // namespace tessera::algebra::testing
