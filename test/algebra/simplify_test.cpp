#include "algebra/bounds.h"
#include "algebra/common_divisor.h"
#include "algebra/linear.h"
#include "algebra/prove.h"
#include "algebra/simplify.h"
#include "algebra/solve.h"
#include "ir/equal.h"
#include "ir/operators.h"
#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/visitor_inl.h"
#include <doctest/doctest.h>
#include <set>

using namespace tessera;
using namespace tessera::ir;
using namespace tessera::algebra;

namespace {

Expr var(const char *name) { return Variable::make(Int(32), Symbol::interned(name)); }
const Expr x = var("x"), y = var("y"), z = var("z"), n = var("n");
Symbol sx = Symbol::interned("x"), sy = Symbol::interned("y");

std::string simple(const Expr &e) { return to_string(simplify(e)); }

void check(const Expr &e) {
    Expr once = simplify(e);
    INFO(to_string(e), " -> ", to_string(once));
    CHECK(to_string(simplify(once)) == to_string(once));
}

}  // namespace

TEST_SUITE("simplify") {
    TEST_CASE("sums are linear forms, in which equal terms cancel") {
        CHECK(simple(x + 3 - x) == "3");
        CHECK(simple((x + y) - (y + x)) == "0");
        CHECK(simple(x * 4 + x) == simple(x * 5));
        CHECK(simple((x + 3) * 2 - x * 2) == "6");
        CHECK(simple(y + x - 3) == simple(x - 3 + y));
    }
    TEST_CASE("floats are computed as they are written") {
        for (const char *text :
             {"(a:float32 + 3.0) - 3.0", "a:float32 - a:float32",
              "(a:float32 + b:float32) - a:float32",
              "a:float32 * b:float32 + a:float32 * c:float32", "a:float32 + a:float32",
              "(a:float32 * 2.0) * 3.0", "a:float32 * 0.0", "a:float32 + 0.0", "0.0 / a:float32",
              "a:float32 / a:float32", "min(b:float32, a:float32)", "max(a:float32, b:float32)",
              "min(max(a:float32, b:float32), a:float32)", "min(max(b:float32, 0.0), 1.0)",
              "max(0.0, min(1.0, a:float32))", "a:float32 == a:float32", "!(a:float32 < b:float32)",
              "int32(float64(a:float32))", "select(a:float32 < b:float32, a:float32, b:float32)"}) {
            CHECK(simple(parse_expr(text)) == to_string(parse_expr(text)));
        }
        CHECK(simple(parse_expr("(a:float32 / 1.0) * 1.0 - 0.0")) ==
              to_string(parse_expr("a:float32")));
        CHECK(simple(parse_expr("min(a:float32, a:float32)")) ==
              to_string(parse_expr("a:float32")));
        CHECK(simple(parse_expr("2.0 + a:float32")) == to_string(parse_expr("a:float32 + 2.0")));
        CHECK(simple(parse_expr("int32(float64(x))")) == "x");
        CHECK(simple(parse_expr("strict_float(a:float32) + strict_float(float32(x))")) ==
              to_string(parse_expr("a:float32 + float32(x)")));
    }
    TEST_CASE("sums of what is read wrap: they stay in whatever is no sum") {
        const Expr a = Load::make(Int(32), Symbol::interned("in"), x);
        const Expr b = Load::make(Int(32), Symbol::interned("in"), y);
        const std::vector<Expr> as_written = {(a + 100) / 2,
                                              (a + 100) % 10,
                                              a * 4 / 4,
                                              a * 3 % 3,
                                              a * 256 / 256,
                                              a + 100 > 0,
                                              a + b<a, max(a + 100, a), a + 1> a,
                                              min(a - 7, b - 7),
                                              a * 2 == 4,
                                              a * b % b,
                                              min(a * 4, b) / 4,
                                              max(a, 0) + 1 < 0};
        for (const Expr &e : as_written) {
            CAPTURE(to_string(e));
            CHECK_FALSE(is_const(simplify(e)));
            CHECK(simple(e).find(simple(a)) != std::string::npos);
            CHECK_FALSE(simple(e) == simple(a));
            check(e);
        }
        // Equal modulo 2^32 is equal, and powers of two divide that.
        CHECK(simple(a + b - a) == simple(b));
        CHECK(simple(a + 100 == a + 100) == "true");
        CHECK(simple(a + 1 == a) == "false");
        CHECK(simple((a * 4 + 100) % 4) == "0");
        CHECK(simple((a + 100) % 4) == simple(a % 4));
    }
    TEST_CASE(
        "what C functions return, and floats that are cast, may be any number, as what is read") {
        const Expr returned = parse_expr("extern int32 f(x)"),
                   rounded = parse_expr("int32(w:float32)");
        for (const Expr &data : {returned, rounded}) {
            CAPTURE(to_string(data));
            CHECK(may_wrap(data + 2147483000));
            CHECK_FALSE(may_wrap(data));
        }
        CHECK_FALSE(may_wrap(x + 2147483));
    }
    TEST_CASE("sums that fit are exact, and coordinates with little data are coordinates") {
        const Expr a = cast(Int(32), Load::make(UInt(16), Symbol::interned("in"), y));
        CHECK(simple((a * 4 + 8) / 4) == simple(a + 2));
        CHECK(simple(a + 100 > a) == "true");
        CHECK(simple((x * 4 + a * 8) / 4) == simple(x + a * 2));
        CHECK(simple(max(x + a + 1, x + a)) == simple(x + a + 1));
    }
    TEST_CASE("data may be shifted beyond the top, and saturates at the ends of its type") {
        for (const char *text :
             {"shift_left(int32(a[0]:uint8), 24) < 0",
              "saturating_cast(int64(a[0]:uint8) + 5000000000:int64):int32 == 2147483647",
              "saturating_cast(min(x:int64, -3000000000:int64)):int32 == -2147483648",
              "if_then_else(x < 3, max(y, 5)) == 0"}) {
            std::string result = simple(parse_expr(text));
            INFO(text, " -> ", result);
            CHECK(result != "false");
        }
        CHECK(simple(parse_expr("shift_left(int32(a[0]:uint8), 4)")) ==
              simple(parse_expr("int32(a[0]:uint8) * 16")));
        CHECK(simple(parse_expr("shift_left(x, 4)")) == simple(x * 16));
    }
    TEST_CASE("a select of a value and a max or min that is that value where it is taken") {
        CHECK(simple(select(x < y && n >= 8, max(n - 1, 7), n - 1)) == simple(n - 1));
        CHECK(simple(select(n >= 8, z + 3 + max(n, 8), z + 3 + n)) == simple(n + z + 3));
        CHECK(simple(select(n < 8, n, max(n, 8))) == "n");
        CHECK(simple(select(n < y, min(n * 2, y * 2), n * 2)) == simple(n * 2));
        for (const Expr &other : {select(n >= 7, max(n, 8), n), select(n < 8, max(n, 8), n),
                                  select(n >= 8 || x < y, max(n, 8), n)}) {
            CHECK(simple(other) != "n");
        }
    }
    TEST_CASE("division by a constant takes out what the constant divides") {
        CHECK(simple((x * 8 + 3) / 8) == "x");
        CHECK(simple((x * 8 + y) / 8) == simple(x + y / 8));
        CHECK(simple((x + y * 8) % 8) == simple(x % 8));
        CHECK(simple((x / 8) * 8 + x % 8) == "x");
        CHECK(simple(x - (x / 8) * 8) == simple(x % 8));
        CHECK(simple((x / 4) / 8) == simple(x / 32));
        CHECK(simple((x * 4 + 2) / 8) == simple(x / 2));
        CHECK(simple((x % 16) % 8) == simple(x % 8));
    }
    TEST_CASE("what is read may be anything, and overflows nowhere where it did not before") {
        Expr a = cast(Int(32), Variable::make(Float(32), Symbol::interned("a")));
        Expr b = cast(Int(32), Variable::make(Float(32), Symbol::interned("b")));
        auto stays = [](const Expr &e) { CHECK(simple(e) == to_string(e)); };
        stays(a - 3 < b);
        stays(Let::make(sx, a, x * x + (x / 2 + 1) / 3));
        stays((a % 1000 + b % 1000) % 1000);
        stays((a / 2 + 1) / 3);
        CHECK(simple(x - 3 < y) == simple(x < y + 3));
        CHECK(simple((x / 2 + 1) / 3) == simple((x + 2) / 6));
        Expr byte = cast(Int(32), Variable::make(UInt(8), Symbol::interned("byte")));
        CHECK(simple(byte - 3 < b % 16) == simple(byte < b % 16 + 3));
        CHECK(simple((byte % 16 + 3) % 16) == simple((byte + 3) % 16));
    }
    TEST_CASE("lets within lets are looked into once") {
        std::vector<Expr> names;
        for (int i = 0; i < 60; i++) names.push_back(Variable::make(Int(32), Symbol::fresh("t")));
        Expr e = names.back() * names[50];
        for (size_t i = names.size(); i-- > 0;) {
            Expr value = i == 0 ? x * y : names[i - 1] * names[i - 1];
            e = Let::make(names[i].as<Variable>()->name, value, e);
        }
        CHECK(to_string(simplify(e < y + 3)).find("t.1") != std::string::npos);
    }
    TEST_CASE("min and max drop what never counts and share what all have") {
        CHECK(simple(min(x + 3, x)) == "x");
        CHECK(simple(max(x + y, x + z) - x) == simple(max(y, z)));
        CHECK(simple(min(min(x, 4), min(y, 2))) == simple(min(min(x, y), 2)));
        CHECK(simple(min(x, max(x, y))) == "x");
        CHECK(simple(min(x, y) + max(x, y)) == simple(x + y));
        CHECK(simple(clamp(x, 0, 10) < 11) == "true");
        CHECK(simple(max(x, -2147483647 - 1)) == "x");
        CHECK(simple(min(2147483647, x)) == "x");
        CHECK(simple(max(x, 2147483647)) == "2147483647");
        CHECK(simple(min(x, -2147483647 - 1)) == "-2147483648");
    }
    TEST_CASE("what is rounded to even numbers is even") {
        CHECK(simple((x - x % 2) % 2) == "0");
        CHECK(simple((x - (x + 1) % 2 - 63) % 2) == "0");
        CHECK(simple((x * 3 - (x * 3 + y) % 4 + y + 1) % 4) == "1");
        CHECK(simple((x - (x + y) % 2) % 2) != "0");
        CHECK(simple((x - x % 6 + 1) % 2) == "1");
        Expr rounded = Let::make(Symbol::interned("r"), x % 2, (x - var("r") + 3) % 2);
        CHECK(simple(rounded) == "1");
    }
    TEST_CASE("comparisons cancel what both sides share") {
        CHECK(simple(x + y < y + 5) == simple(x < 5));
        CHECK(simple(x <= min(x, y)) == simple(x <= y));
        CHECK(simple(x * 4 < y * 4 + 3) == simple(x <= y));
        CHECK(simple(x / 8 < 3) == simple(x < 24));
        CHECK(simple(x * 2 == y * 2 + 1) == "false");
    }
    TEST_CASE("quotients of constants that have overflowed stay") {
        for (const char *text : {"1073741824 * 16384 / 1000", "(x + 1073741824 * 16384) / 1000"}) {
            Expr e = parse_expr(text);
            CHECK(to_string(simplify(e)) == to_string(e));
        }
        CHECK(simplify(parse_expr("1073741824 * 16384 % 1000")).defined());
    }
    TEST_CASE("the lowest int64 has no magnitude, and is counted with all the same") {
        constexpr int64_t lowest = INT64_MIN;
        CHECK(common_divisor(lowest, 12) == 4);
        CHECK(common_divisor(-6, 4) == 2);
        CHECK(common_divisor(0, 0) == 0);
        CHECK(common_divisor(lowest, 0) == int64_t(1) << 62);
        CHECK(common_divisor(lowest, lowest) == int64_t(1) << 62);
        Expr wide = Variable::make(Int(64), Symbol::interned("wide")),
             low = make_const(Int(64), lowest);
        CHECK(equal(simplify(wide * low), wide * low));
        CHECK(equal(simplify(wide + low), wide + low));
        for (const Expr &e :
             {wide % low, wide / low, wide * (low / 2) * 2, low - wide, min(wide * 4, low),
              max(wide * 4 + 2, low), max(wide * 4, wide * 2 + low), (wide * low) % 8}) {
            check(e);
        }
    }
    TEST_CASE("sums of uint64 may wrap, however large they are") {
        Expr e = parse_expr("min(u:uint64 + 7:uint64, 4:uint64)");
        CHECK(equal(simplify(e), e));
        IntervalScope scope;
        scope.bind(sx, {UIntImm::make(UInt(64), 1), Expr()});
        Expr sum = Add::make(Variable::make(UInt(64), sx), UIntImm::make(UInt(64), 7));
        Interval i = bounds_of_expr(sum, scope);
        CHECK(to_string(i.min) == "0:uint64");
    }
}

TEST_SUITE("simplifying again changes nothing") {
    TEST_CASE("where two of a max decide about a third as none of them does alone") {
        Expr either = select(y < 20, z, x);
        check(max(max(x, 14) + x, max(either, z + 17)));
        CHECK(simple(max(max(x, 14) + x, max(either, z + 17))) ==
              simple(max(max(x, 14) + x, z + 17)));
    }
    TEST_CASE("where two of a min, next to one another at last, match what a third chooses from") {
        const Expr either = select(z <= x, min(x, y), z);
        check(min(min(min(-5, x), y), either));
        CHECK(simple(min(min(min(-5, x), y), either)) == simple(min(min(x, y), -5)));
        check(max(max(max(-5, x), y), select(x <= z, max(x, y), z)));
    }
    TEST_CASE("where a minimum meets its maximum in the lanes of a vector") {
        Expr both = Broadcast::make(min(x, y), 4) + Ramp::make(max(x, y), n, 4);
        check(both);
        CHECK(simple(both) == simple(Ramp::make(x + y, n, 4)));
        Expr strides = Ramp::make(z, min(x, y), 4) + Ramp::make(z, max(x, y), 4);
        CHECK(simple(strides) == simple(Ramp::make(z * 2, x + y, 4)));
    }
    TEST_CASE("where a minimum meets its maximum in what is left of a comparison") {
        check(x - max(x, y) + min(likely(Expr(6)), 8) < min(min(x, y) - min(z, 12), 30));
    }
}

TEST_SUITE("prove") {
    TEST_CASE("finds cancellations inside min and max, and uses facts") {
        CHECK(can_prove(max(x, y + z) - z >= y));
        CHECK(can_prove(min(x + 3, y) - x <= 3));
        CHECK(can_prove((x / 8) * 8 <= x));
        CHECK(can_prove((x / 8) * 8 + 7 >= x));
        CHECK_FALSE(can_prove((x / 8) * 8 >= x));
        CHECK(can_prove(x < n, Facts().between(sx, 0, n - 1)));
        CHECK(can_prove(x + 2 < z, Facts().holds(x < y).holds(y + 2 <= z)));
        CHECK(constant_upper_bound(x * 2 + 1, Facts().between(sx, 0, 10)) == 21);
    }
    TEST_CASE("knows little of what it only has a fact about") {
        Facts divided = Facts().between(sx, -7, 2).between(sy, 3, 6).holds(x <= x / y);
        CHECK(constant_lower_bound(x / y, divided) == -3);
        CHECK(constant_lower_bound(z - x, divided) == std::nullopt);
        CHECK(constant_lower_bound(0 - x, divided) == 0);
        Expr called = IntrinsicCall::make(Int(32), Intrinsic::popcount, {x});
        CHECK(constant_upper_bound(called, Facts().holds(y <= called)) == 32);
        CHECK(constant_upper_bound(y - called, Facts().holds(y <= called)) == 0);
    }
    TEST_CASE("the distance of ends that were clamped, however often") {
        for (int depth = 1; depth <= 12; depth++) {
            CAPTURE(depth);
            Expr high = x + 31, low = x;
            for (int i = 0; i < depth; i++) {
                high = max(min(high + 1, y - 1), 0);
                low = max(min(low - 1, y - 1), 0);
            }
            CHECK(constant_upper_bound(high - low + 1) == 32 + 2 * depth);
            CHECK(constant_lower_bound(low - high) == -31 - 2 * depth);
        }
    }
    TEST_CASE("the distance of quotients by one number, whatever that is") {
        CHECK(constant_upper_bound((x * 8 + 7) / n - x * 8 / n + 1) == 8);
        CHECK(constant_lower_bound((x * 8 + 7) / n - x * 8 / n + 1) == -6);
        CHECK(constant_upper_bound(y + 2 * (x / n) - 2 * ((x - 3) / n),
                                   Facts().between(sy, 0, 5)) == 11);
        CHECK(constant_upper_bound((x + 7) / n - x / z) == std::nullopt);
        CHECK(constant_upper_bound((x + 7) / n - y / n) == std::nullopt);
    }
}

TEST_SUITE("bounds") {
    TEST_CASE("lets of an interval of the scope stay around what they bind") {
        const Symbol inner = Symbol::fresh("inner"), v = Symbol::fresh("v");
        const Expr n = Variable::make(Int(32), Symbol::fresh("n"));
        const Expr body = min(Variable::make(Int(32), inner) * 3, n) / 2;
        const Expr end = Let::make(inner, n * n / 7, body);
        IntervalScope scope;
        scope.bind(v, {end, end + 5});
        const Interval i = bounds_of_expr(Variable::make(Int(32), v) + 1, scope);
        for (const Expr &e : {i.min, i.max}) {
            std::set<Symbol> bound;
            for_each_node(e, [&](const Let &let) { bound.insert(let.name); });
            for_each_node(e, [&](const Variable &var) {
                CHECK((bound.count(var.name) || var.name == n.as<Variable>()->name));
            });
        }
    }
    TEST_CASE("of a stencil index over a tile") {
        IntervalScope scope;
        scope.bind(sx, {y * 8, y * 8 + 7});
        Interval i = bounds_of_expr(x + 1, scope);
        CHECK(to_string(i.min) == simple(y * 8 + 1));
        CHECK(to_string(i.max) == simple(y * 8 + 8));
        i = bounds_of_expr(clamp(x, 0, n - 1), scope);
        CHECK(equal(i.max, simplify(clamp(y * 8 + 7, 0, n - 1))));
        i = bounds_of_expr(x / 2 - y * 4, scope);
        CHECK(to_string(i.min) == "0");
        CHECK(to_string(i.max) == "3");
    }
    TEST_CASE("of a quotient by what may be negative, as of the variables of fused loops") {
        IntervalScope scope;
        scope.bind(sx, {0, n * y - 1});
        Interval i = bounds_of_expr(x / n, scope);
        CHECK(to_string(i.min) == simple(min((n * y - 1) / n, 0)));
        CHECK(to_string(i.max) == simple(max((n * y - 1) / n, 0)));
    }
    TEST_CASE("of a sum with a min of nearly the largest number there is") {
        IntervalScope scope;
        scope.bind(sx, {0, 1});
        Interval i = bounds_of_expr(min(y, 2147483646) + x + 3, scope);
        CHECK(to_string(i.min) == simple(min(y, 2147483646) + 3));
        CHECK(to_string(i.max) == simple(min(y, 2147483646) + 4));
    }
    TEST_CASE("of a difference of max with nearly the smallest number there is") {
        IntervalScope scope;
        scope.bind(sx, {z, z + 7});
        for (int lowest : {-2147483647, -1100000000}) {
            Interval i = bounds_of_expr(max(x, lowest) - max(y, lowest) + 4, scope);
            CHECK(to_string(i.max) == simple(max(z + 7, lowest) - max(y, lowest) + 4));
        }
    }
    TEST_CASE("of a clamp that is dropped, as the value is known to be within it") {
        IntervalScope scope;
        scope.bind(sx, {0, 7});
        scope.bind(sy, {0, 100});
        Interval i = bounds_of_expr(clamp(x / y, 0, 5), scope);  // y may be 0: then 0
        CHECK(to_string(i.min) == "0");
        CHECK(to_string(i.max) == "5");
    }
}

TEST_SUITE("solve") {
    TEST_CASE("for the range of a guarded index") {
        Interval i = solve_for_outer_interval(x >= 0 && x + 1 < n, sx);
        CHECK(to_string(i.min) == "0");
        CHECK(equal(i.max, simplify(n - 2)));
        i = solve_for_inner_interval(x * 4 + 3 <= n, sx);
        CHECK(equal(i.max, simplify((n - 3) / 4)));
        CHECK_FALSE(i.min.defined());
    }
    TEST_CASE("unsigned constants are folded where their product wraps") {
        for (Type t : {UInt(16), UInt(32), UInt(64)}) {
            Expr u = Variable::make(t, sx);
            auto near_end = [&](int64_t below) { return make_const(t, -below); };
            CHECK(simple(u * near_end(2) * near_end(8)) == simple(u * make_const(t, 16)));
            CHECK(simple(near_end(2) * (near_end(9) * (u * near_end(1)))) ==
                  simple(u * near_end(18)));
            CHECK(simple((u + near_end(2)) + near_end(8)) == simple(u + near_end(10)));
        }
    }
}
