#include "algebra/bounds.h"
#include "algebra/constant_interval.h"
#include "algebra/cse.h"
#include "algebra/linear.h"
#include "algebra/prove.h"
#include "algebra/simplify.h"
#include "algebra/solve.h"
#include "algebra/support.h"
#include "ir/equal.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include <doctest/doctest.h>

using namespace tessera;
using namespace tessera::ir;
using namespace tessera::algebra;
using namespace tessera::algebra::testing;

namespace {

bool same_lanes(const std::vector<Expr> &a, const std::vector<Expr> &b) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); i++) {
        if (!equal(a[i], b[i])) return false;
    }
    return true;
}

std::string text_of(const Values &values) {
    std::string text;
    for (const auto &[name, value] : values) text += str(name, " = ", to_string(value), "; ");
    return text;
}

ExprMaker maker_for(Random &random) {
    static const std::vector<Type> types{Int(32), Int(32), Int(32),  Int(64),
                                         UInt(8), Int(16), UInt(32), Int(8)};
    ExprMaker maker(random, random.pick(types));
    maker.lets = random.chance(50);
    maker.casts = random.chance(50);
    return maker;
}

// The scalar's value as a number.
std::optional<int64_t> number(const Expr &e, const Values &values) {
    auto lanes = evaluate(e, values);
    return lanes && lanes->size() == 1 ? as_const_int(lanes->at(0)) : std::nullopt;
}

// Runs `check` for a second; the seed of what fails is printed. It counts the values that it
// compares: a check that never comes to one would hold of anything.
template<typename Check>
void repeatedly(Check check) {
    Seeds seeds;
    uint64_t last = 0;
    int64_t compared = 0;
    while (auto seed = seeds.next()) {
        Random random(last = *seed);
        std::string failure = check(random, compared);
        if (!failure.empty()) {
            FAIL_CHECK("TESSERA_SEED=" << *seed << "\n" << failure);
            break;
        }
    }
    CHECK(seeds.count() > 0);
    if (seeds.count() > 50) CHECK(compared > seeds.count() / 10);
    MESSAGE(seeds.count() << " runs with " << compared
                          << " comparisons, the last with TESSERA_SEED=" << last);
}

// Says how one differs from what became of it; empty if it does not.
std::string difference(const Expr &e, const Expr &became, const Values &values, Overflow overflow,
                       int64_t &compared) {
    const auto before = evaluate(e, values, overflow);
    if (!before) return "";
    const auto after = evaluate(became, values, overflow);
    compared++;
    if (after && same_lanes(*before, *after)) return "";
    return str(to_string(e), "\n -> ", to_string(became), "\n at ", text_of(values),
               to_string(before->at(0)), " became ",
               after ? to_string(after->at(0)) : std::string("undefined"));
}

std::string check_simplify(const Expr &e, ExprMaker &maker, int64_t &compared) {
    Expr simple = simplify(e), again = simplify(simple);
    if (!equal(simple, again)) {
        return str("not idempotent: ", to_string(e), "\n -> ", to_string(simple), "\n -> ",
                   to_string(again));
    }
    for (int i = 0; i < 6; i++) {
        const Values values = maker.values(i < 3 ? 6 : 40);
        const std::string found = difference(e, simple, values, Overflow::HasNoValue, compared);
        if (!found.empty()) return found;
    }
    return "";
}

Values extreme_values(const ExprMaker &maker, Random &random) {
    Values values;
    for (const Expr &v : maker.variables()) {
        values[v.as<Variable>()->name] = extreme_number(random, v.type());
    }
    for (const char *name : {"p", "q"}) {
        values[Symbol::interned(name)] = make_const(UInt(8), random.between(0, 255));
    }
    return values;
}

// A statement and an expression, in which arguments count as something else.
std::string check_data(const Expr &e, const ExprMaker &maker, Random &random, int64_t &compared) {
    const Expr index = make_zero(Int(32, e.type().lanes()));
    const Stmt store = simplify(Store::make(Symbol::interned("out"), e, index));
    for (const Expr &simple : {simplify(e), simplify(simplify(e)), store.as<Store>()->value}) {
        for (int i = 0; i < 8; i++) {
            const Values values = extreme_values(maker, random);
            const std::string found = difference(e, simple, values, Overflow::Wraps, compared);
            if (!found.empty()) return found;
        }
    }
    return "";
}

}  // namespace

TEST_SUITE("random") {
    TEST_CASE("what is not the same is noticed") {
        Random random(1);
        ExprMaker maker(random, Int(32));
        const Expr a = maker.variables()[0];
        const auto found = [&](const Expr &e, const Expr &wrong, Overflow overflow) {
            int64_t compared = 0;
            std::string first;
            for (int i = 0; i < 50 && first.empty(); i++) {
                const Values values =
                    overflow == Overflow::Wraps ? extreme_values(maker, random) : maker.values(6);
                first = difference(e, wrong, values, overflow, compared);
            }
            CHECK(compared > 0);
            return !first.empty();
        };
        CHECK(found(a / 2 * 2, a, Overflow::HasNoValue));
        CHECK(!found(a * 2 / 2, a, Overflow::HasNoValue));
        CHECK(found(a * 2 / 2, a, Overflow::Wraps));
    }
    TEST_CASE("simplify keeps the value of a number, and simplifying again changes nothing") {
        repeatedly([](Random &random, int64_t &compared) {
            ExprMaker maker = maker_for(random);
            return check_simplify(maker.make(int(random.between(1, 6))), maker, compared);
        });
    }
    TEST_CASE("simplify keeps the value of a condition") {
        repeatedly([](Random &random, int64_t &compared) {
            ExprMaker maker = maker_for(random);
            return check_simplify(maker.condition(int(random.between(1, 5))), maker, compared);
        });
    }
    TEST_CASE("simplify keeps the value of data at the ends of its type, which wraps") {
        repeatedly([](Random &random, int64_t &compared) {
            ExprMaker maker(random, random.chance(70) ? Int(32) : Int(64));
            maker.lets = random.chance(50);
            maker.casts = random.chance(30);
            maker.data = true;
            if (random.chance(20)) maker.largest_constant = 200;
            const int depth = int(random.between(1, 4));
            return check_data(random.chance(40) ? maker.condition(depth) : maker.make(depth), maker,
                              random, compared);
        });
    }
    TEST_CASE("simplify keeps the lanes of data at the ends of its type") {
        repeatedly([](Random &random, int64_t &compared) {
            ExprMaker maker(random, random.chance(70) ? Int(32) : Int(64));
            maker.data = true;
            Expr a = Broadcast::make(maker.make(2), 4);
            Expr b = Ramp::make(maker.make(1), make_const(a.type().element_of(), 1), 4);
            Expr e = random.chance(50) ? Add::make(a, b) : Sub::make(b, a);
            const Expr k = make_const(a.type(), random.between(1, 9));
            switch (random.between(0, 4)) {
            case 0: e = Div::make(e, k); break;
            case 1: e = Mod::make(e, k); break;
            case 2: e = Max::make(e, a); break;
            case 3: e = LT::make(e, Add::make(a, k)); break;
            default: e = Select::make(LE::make(a, e), Div::make(b, k), a); break;
            }
            return check_data(e, maker, random, compared);
        });
    }
    TEST_CASE("what is known of data, and what follows from it, is right") {
        repeatedly([](Random &random, int64_t &compared) -> std::string {
            ExprMaker maker(random, random.chance(70) ? Int(32) : Int(64));
            maker.data = true;
            const Expr e = maker.make(int(random.between(1, 4)));
            const Expr condition = maker.condition(int(random.between(1, 3)));
            auto low = constant_lower_bound(e), high = constant_upper_bound(e);
            const Alignment alignment = alignment_of(e);
            const bool proven = can_prove(condition);
            for (int n = 0; n < 12; n++) {
                const Values values = extreme_values(maker, random);
                auto as_number = [&](const Expr &value) {
                    auto lanes = evaluate(value, values, Overflow::Wraps);
                    return lanes ? as_const_int(lanes->at(0)) : std::nullopt;
                };
                const std::string at = str(to_string(e), "\n at ", text_of(values));
                if (auto v = as_number(e)) {
                    compared++;
                    if (low && *v < *low) return str(at, *v, " is below ", *low);
                    if (high && *v > *high) return str(at, *v, " is above ", *high);
                    const int64_t m = alignment.modulus, r = alignment.remainder;
                    if (m == 0 ? *v != r : euclidean_mod(*v, m) != euclidean_mod(r, m)) {
                        return str(at, *v, " is not ", r, " modulo ", m);
                    }
                }
                auto c = as_number(condition);
                if (c && proven && !*c) {
                    return str("proved ", to_string(condition), "\n at ", text_of(values));
                }
            }
            return "";
        });
    }
    TEST_CASE("what a scope remembers of other expressions changes no value") {
        repeatedly([](Random &random, int64_t &compared) -> std::string {
            const SimplifierScope scope;
            ExprMaker maker = maker_for(random);
            for (int i = 0; i < 6; i++) {
                const bool is_condition = random.chance(30);
                const Expr e = is_condition ? maker.condition(4) : maker.make(4);
                const std::string failure = check_simplify(e, maker, compared);
                if (!failure.empty()) return failure;
            }
            return "";
        });
    }
    TEST_CASE("simplify keeps the lanes of a vector") {
        repeatedly([](Random &random, int64_t &compared) {
            ExprMaker maker(random, random.chance(70) ? Int(32) : UInt(8));
            Expr a = Ramp::make(maker.make(2), maker.make(1), 4);
            Expr b = Broadcast::make(maker.make(3), 4);
            Expr c = make_const(a.type(), random.between(-3, 9));
            std::vector<Expr> parts{a, b, c};
            auto part = [&] { return random.pick(parts); };
            for (int i = 0; i < 5; i++) {
                switch (random.between(0, 9)) {
                case 0: parts.push_back(Add::make(part(), part())); break;
                case 1: parts.push_back(Sub::make(part(), part())); break;
                case 2: parts.push_back(Mul::make(part(), c)); break;
                case 3: parts.push_back(Div::make(part(), c)); break;
                case 4: parts.push_back(Mod::make(part(), c)); break;
                case 5: parts.push_back(Min::make(part(), part())); break;
                case 6: parts.push_back(Max::make(part(), part())); break;
                case 7:
                    parts.push_back(Select::make(LT::make(part(), part()), part(), part()));
                    break;
                case 8: {
                    Expr v = part();
                    parts.push_back(Shuffle::make({v, part()}, {0, 2, 4, 6}));
                    break;
                }
                default: parts.push_back(Shuffle::make({part()}, {3, 2, 1, 0})); break;
                }
            }
            return check_simplify(parts.back(), maker, compared);
        });
    }
    TEST_CASE("remainders of ramps of narrow integers, which wrap wherever they begin") {
        for (Type t : {UInt(8), Int(8), UInt(16), Int(16)}) {
            const int64_t all = int64_t(1) << t.bits(), least = t.is_uint() ? 0 : -all / 2;
            const Symbol name = Symbol::interned("a");
            const Expr a = Variable::make(t, name);
            auto number = [&](int k) { return make_const(t, k); };
            for (int k : {2, 3, 4, 6, 10}) {
                for (const Expr &base : {a * number(k), a * number(k) + number(1),
                                         a / number(k) * number(k), a - a % number(k)}) {
                    const Expr e = Ramp::make(base, number(1), 8) % broadcast(number(k), 8);
                    const Expr simple = simplify(e);
                    CAPTURE(to_string(e));
                    CAPTURE(to_string(simple));
                    // The multiples, and their ends, wrap at these.
                    for (int64_t wrap : {least, int64_t(0), all / 2 / k, all / k, all + least}) {
                        for (int64_t i = wrap - 9; i < wrap + 9; i++) {
                            if (i < least || i >= all + least) continue;
                            const Values values = {{name, make_const(t, i)}};
                            auto before = evaluate(e, values), after = evaluate(simple, values);
                            CHECK((before && after && same_lanes(*before, *after)));
                        }
                    }
                }
            }
        }
    }
    TEST_CASE("bounds of a clamp are within it") {
        repeatedly([](Random &random, int64_t &compared) -> std::string {
            ExprMaker maker = maker_for(random);
            Expr e = maker.make(int(random.between(1, 4)));
            IntervalScope scope;
            for (const Expr &v : maker.variables()) {
                if (random.chance(30)) continue;
                int64_t low = random.between(v.type().is_uint() ? 0 : -10, 10);
                int64_t high = low + random.between(0, 10);
                scope.bind(v.as<Variable>()->name,
                           {make_const(v.type(), low), make_const(v.type(), high)});
            }
            int64_t low = random.between(e.type().is_uint() ? 0 : -9, 3);
            int64_t high = low + random.between(0, 20);
            Expr clamped = max(min(e, make_const(e.type(), high)), make_const(e.type(), low));
            Interval i = bounds_of_expr(clamped, scope);
            for (int n = 0; n < 4; n++) {
                Values values = maker.values(20);
                for (const auto &[name, interval] : scope.all()) values.erase(name);
                for (bool upper : {false, true}) {
                    const Expr &end = upper ? i.max : i.min;
                    auto bound = end.defined() ? number(end, values) : std::nullopt;
                    if (end.defined() && !bound) continue;  // overflows
                    compared++;
                    if (bound && *bound >= low && *bound <= high) continue;
                    return str(to_string(clamped), "\n in [",
                               i.min.defined() ? to_string(i.min) : "-inf", ", ",
                               i.max.defined() ? to_string(i.max) : "inf", "]\n at ",
                               text_of(values));
                }
            }
            return "";
        });
    }
    TEST_CASE("bounds hold every value") {
        repeatedly([](Random &random, int64_t &compared) -> std::string {
            ExprMaker maker = maker_for(random);
            Expr e = maker.make(int(random.between(1, 5)));
            IntervalScope scope;
            std::vector<std::pair<Symbol, std::pair<int64_t, int64_t>>> ranges;
            for (const Expr &v : maker.variables()) {
                if (random.chance(40)) continue;
                int64_t low = random.between(-10, 10), high = low + random.between(0, 10);
                if (v.type().is_uint()) low = std::abs(low), high = low + 5;
                Symbol name = v.as<Variable>()->name;
                scope.bind(name, {make_const(v.type(), low), make_const(v.type(), high)});
                ranges.push_back({name, {low, high}});
            }
            Interval i = bounds_of_expr(e, scope);
            for (int n = 0; n < 8; n++) {
                Values values = maker.values(20);
                for (const auto &[name, range] : ranges) {
                    values[name] = make_const(e.type(), random.between(range.first, range.second));
                }
                auto v = number(e, values);
                if (!v) continue;
                Values outside = values;
                for (const auto &[name, range] : ranges) outside.erase(name);
                for (bool upper : {false, true}) {
                    const Expr &end = upper ? i.max : i.min;
                    if (!end.defined()) continue;
                    auto bound = number(end, outside);
                    compared += bound.has_value();
                    if (bound && (upper ? *v <= *bound : *v >= *bound)) continue;
                    bool overflow = !bound && number(end, values) == std::nullopt &&
                                    is_const(simplify(end)) == false;
                    if (overflow && e.type().is_int() && e.type().bits() >= 32) continue;
                    return str(to_string(e), "\n in [", i.min.defined() ? to_string(i.min) : "-inf",
                               ", ", i.max.defined() ? to_string(i.max) : "inf", "]\n at ",
                               text_of(values), "is ", *v);
                }
            }
            return "";
        });
    }
    TEST_CASE("constant bounds, alignment and proofs are right") {
        repeatedly([](Random &random, int64_t &compared) -> std::string {
            ExprMaker maker(random, random.chance(70) ? Int(32) : Int(64));
            Expr e = maker.make(int(random.between(1, 5)));
            Expr condition = maker.condition(int(random.between(1, 4)));
            Facts facts;
            std::vector<std::pair<Symbol, std::pair<int64_t, int64_t>>> ranges;
            for (const Expr &v : maker.variables()) {
                if (random.chance(50)) continue;
                int64_t low = random.between(-10, 10), high = low + random.between(0, 10);
                facts.between(v.as<Variable>()->name, make_const(v.type(), low),
                              make_const(v.type(), high));
                ranges.push_back({v.as<Variable>()->name, {low, high}});
            }
            Expr fact = maker.condition(2);
            if (random.chance(60)) facts.holds(fact);
            std::string given = facts.known_true.empty() ? "" : to_string(fact) + "; ";
            for (const auto &[name, range] : ranges) {
                given += str(name, " in [", range.first, ", ", range.second, "]; ");
            }
            auto low = constant_lower_bound(e, facts), high = constant_upper_bound(e, facts);
            Alignment alignment = alignment_of(e, facts);
            bool proven = can_prove(condition, facts);
            Expr simple = simplify(e, facts);
            for (int n = 0; n < 8; n++) {
                Values values = maker.values(12);
                for (const auto &[name, range] : ranges) {
                    values[name] = make_const(e.type(), random.between(range.first, range.second));
                }
                if (!facts.known_true.empty() && number(fact, values) != 1) continue;
                std::string at = str(to_string(e), "\n given ", given, "\n at ", text_of(values));
                auto v = number(e, values);
                compared += v.has_value();
                if (v && low && *v < *low) return str(at, *v, " is below ", *low);
                if (v && high && *v > *high) return str(at, *v, " is above ", *high);
                if (v && number(simple, values) != v) {
                    return str(at, *v, " became ", to_string(simple));
                }
                int64_t m = alignment.modulus;
                int64_t difference = v ? *v - alignment.remainder : 0;
                if (v && (m == 0 ? difference != 0 : difference % m != 0)) {
                    return str(at, *v, " is not ", alignment.remainder, " modulo ", m);
                }
                auto c = number(condition, values);
                if (c && proven && !*c) return str("proved ", to_string(condition), "\n", at);
            }
            return "";
        });
    }
    TEST_CASE("solved intervals are right") {
        repeatedly([](Random &random, int64_t &compared) -> std::string {
            ExprMaker maker(random, Int(32));
            Expr e = maker.condition(int(random.between(1, 4)));
            Symbol var = maker.variables()[0].as<Variable>()->name;
            Interval outer = solve_for_outer_interval(e, var);
            Interval inner = solve_for_inner_interval(e, var);
            for (int n = 0; n < 10; n++) {
                Values values = maker.values(15);
                auto v = number(e, values);
                if (!v) continue;
                compared += outer.min.defined() || outer.max.defined() || inner.min.defined();
                int64_t at = *as_const_int(values[var]);
                Values outside = values;
                outside.erase(var);
                auto inside = [&](const Interval &i) {
                    auto low = i.min.defined() ? number(i.min, outside) : at;
                    auto high = i.max.defined() ? number(i.max, outside) : at;
                    if (!low || !high)
                        throw InternalError(to_string(i.min.defined() ? i.min : i.max));
                    return at >= *low && at <= *high;
                };
                auto where = [&] {
                    auto show = [](const Expr &x) { return x.defined() ? to_string(x) : "inf"; };
                    return str(to_string(e), "\n at ", text_of(values), "\n outer [",
                               show(outer.min), ", ", show(outer.max), "] inner [", show(inner.min),
                               ", ", show(inner.max), "]");
                };
                if (*v && !inside(outer)) return "outer: " + where();
                if (!*v && inside(inner)) return "inner: " + where();
            }
            return "";
        });
    }
    TEST_CASE("what is called monotonic is") {
        repeatedly([](Random &random, int64_t &compared) -> std::string {
            ExprMaker maker = maker_for(random);
            Expr e = maker.make(int(random.between(1, 4)));
            Symbol var = maker.variables()[0].as<Variable>()->name;
            Monotonic m = is_monotonic(e, var);
            if (m == Monotonic::Unknown) return "";
            for (int n = 0; n < 8; n++) {
                Values values = maker.values(20), more = values;
                auto at = as_const_int(values[var]);
                more[var] = make_const(values[var].type(), *at + random.between(1, 10));
                if (*as_const_int(more[var]) < *at) continue;
                auto before = number(e, values), after = number(e, more);
                if (!before || !after) continue;
                compared++;
                bool right = m == Monotonic::Constant     ? *before == *after
                             : m == Monotonic::Increasing ? *before <= *after
                                                          : *before >= *after;
                if (!right) return str(to_string(e), "\n at ", text_of(values));
            }
            return "";
        });
    }
    TEST_CASE("CSE keeps the value") {
        repeatedly([](Random &random, int64_t &compared) -> std::string {
            ExprMaker maker = maker_for(random);
            Expr a = maker.make(3), b = maker.make(3);
            Expr e = Add::make(Mul::make(a, b), Sub::make(a, Min::make(b, Add::make(a, b))));
            Expr shared = common_subexpression_elimination(e);
            for (int n = 0; n < 4; n++) {
                const std::string found =
                    difference(e, shared, maker.values(10), Overflow::HasNoValue, compared);
                if (!found.empty()) return found;
            }
            return "";
        });
    }
}
