#include "codegen/elementwise.h"

using namespace tessera;
using namespace tessera::test;

namespace {

using Operands = const std::vector<Expr> &;
using Values = const std::vector<Wide> &;
using Exact = std::optional<Wide>;

constexpr Type integer_types[] = {Int(8),  Int(16),  Int(32),  Int(64),
                                  UInt(8), UInt(16), UInt(32), UInt(64)};

bool wraps(Type t) { return t.is_uint() || t.bits() < 32; }

// A result that must not overflow has no meaning if it does.
Exact in_type(Type t, Wide v) { return wraps(t) || fits(t, v) ? Exact(v) : Exact(); }

Wide floor_div(Wide a, Wide b) { return a / b - (a % b < 0 ? (b > 0 ? 1 : -1) : 0); }
Wide euclid_div(Wide a, Wide b) { return b == 0 ? 0 : floor_div(a, b); }
Wide euclid_mod(Wide a, Wide b) { return b == 0 ? 0 : a - euclid_div(a, b) * b; }
Wide saturate(Type t, Wide v) {
    return std::max(Wide(t.min_int()), std::min(Wide(t.max_uint()), v));
}

// 2^count times the value, rounded down or to nearest; any count.
Wide shifted(Wide v, Wide count, bool round = false) {
    if (count >= 0) return count > 64 ? 0 : v << int(count);
    int by = int(std::min(-count, Wide(100)));
    if (round) v += Wide(1) << (by - 1);
    return v >> by;
}

ElementCase intrinsic(Type t, Intrinsic op, std::vector<Type> operands, Type result,
                      std::function<Exact(Values)> expected) {
    return {str(info_of(op).name, ' ', t), operands, result,
            [=](Operands e) { return call(result.with_lanes(e[0].type().lanes()), op, e); },
            expected};
}

void add_arithmetic(std::vector<ElementCase> &all, Type t) {
    auto binary = [&](const char *name, auto make, auto expected) {
        all.push_back({str(name, ' ', t),
                       {t, t},
                       t,
                       [=](Operands e) { return make(e[0], e[1]); },
                       [=](Values v) { return in_type(t, expected(v[0], v[1])); }});
    };
    binary("add", Add::make, [](Wide a, Wide b) { return a + b; });
    binary("sub", Sub::make, [](Wide a, Wide b) { return a - b; });
    // Of 64 bits unsigned, the product needs all of 128.
    using UWide = unsigned __int128;
    binary("mul", Mul::make, [](Wide a, Wide b) { return Wide(UWide(a) * UWide(b)); });
    binary("div", Div::make, euclid_div);
    binary("mod", Mod::make, euclid_mod);
    binary("min", Min::make, [](Wide a, Wide b) { return std::min(a, b); });
    binary("max", Max::make, [](Wide a, Wide b) { return std::max(a, b); });
    auto compare = [&](const char *name, auto make, auto expected) {
        all.push_back({str(name, ' ', t),
                       {t, t},
                       Bool(),
                       [=](Operands e) { return make(e[0], e[1]); },
                       [=](Values v) -> Exact { return expected(v[0], v[1]); }});
    };
    compare("eq", EQ::make, std::equal_to<Wide>());
    compare("ne", NE::make, std::not_equal_to<Wide>());
    compare("lt", LT::make, std::less<Wide>());
    compare("le", LE::make, std::less_equal<Wide>());
    compare("gt", GT::make, std::greater<Wide>());
    compare("ge", GE::make, std::greater_equal<Wide>());
    all.push_back({str("select ", t),
                   {t, t, Bool()},
                   t,
                   [](Operands e) { return Select::make(e[2], e[0], e[1]); },
                   [](Values v) -> Exact { return v[2] ? v[0] : v[1]; }});
}

void add_bits(std::vector<ElementCase> &all, Type t) {
    Type u = t.with_code(TypeCode::UInt), s = t.with_code(TypeCode::Int);
    int bits = t.bits();
    auto low = [=](Wide v) { return uint64_t(wrap(u, v)); };
    using I = Intrinsic;
    all.push_back(
        intrinsic(t, I::abs, {t}, u, [](Values v) -> Exact { return v[0] < 0 ? -v[0] : v[0]; }));
    all.push_back(intrinsic(t, I::absd, {t, t}, u, [](Values v) -> Exact {
        return v[0] < v[1] ? v[1] - v[0] : v[0] - v[1];
    }));
    all.push_back(
        intrinsic(t, I::bitwise_and, {t, t}, t, [](Values v) -> Exact { return v[0] & v[1]; }));
    all.push_back(
        intrinsic(t, I::bitwise_or, {t, t}, t, [](Values v) -> Exact { return v[0] | v[1]; }));
    all.push_back(
        intrinsic(t, I::bitwise_xor, {t, t}, t, [](Values v) -> Exact { return v[0] ^ v[1]; }));
    all.push_back(intrinsic(t, I::bitwise_not, {t}, t, [](Values v) -> Exact { return ~v[0]; }));
    all.push_back(intrinsic(t, I::popcount, {t}, t,
                            [=](Values v) -> Exact { return __builtin_popcountll(low(v[0])); }));
    all.push_back(intrinsic(t, I::count_leading_zeros, {t}, t, [=](Values v) -> Exact {
        return low(v[0]) ? __builtin_clzll(low(v[0])) - (64 - bits) : bits;
    }));
    all.push_back(intrinsic(t, I::count_trailing_zeros, {t}, t, [=](Values v) -> Exact {
        return low(v[0]) ? __builtin_ctzll(low(v[0])) : bits;
    }));
    all.push_back(intrinsic(t, I::div_round_to_zero, {t, t}, t, [=](Values v) -> Exact {
        return v[1] == 0 ? Exact(0) : in_type(t, v[0] / v[1]);
    }));
    all.push_back(intrinsic(t, I::mod_round_to_zero, {t, t}, t,
                            [=](Values v) -> Exact { return v[1] == 0 ? 0 : v[0] % v[1]; }));
    for (Type count : {u, s}) {
        all.push_back(intrinsic(t, I::shift_left, {t, count}, t,
                                [](Values v) -> Exact { return shifted(v[0], v[1]); }));
        all.push_back(intrinsic(t, I::shift_right, {t, count}, t,
                                [](Values v) -> Exact { return shifted(v[0], -v[1]); }));
        all.push_back(intrinsic(t, I::rounding_shift_left, {t, count}, t,
                                [](Values v) -> Exact { return shifted(v[0], v[1], true); }));
        all.push_back(intrinsic(t, I::rounding_shift_right, {t, count}, t,
                                [](Values v) -> Exact { return shifted(v[0], -v[1], true); }));
    }
}

void add_widening(std::vector<ElementCase> &all, Type t) {
    if (t.bits() == 64) return;
    using I = Intrinsic;
    Type wide = t.widen(), wide_int = wide.with_code(TypeCode::Int);
    Type other = t.with_code(t.is_int() ? TypeCode::UInt : TypeCode::Int);
    Type count = t.with_code(TypeCode::Int);
    auto sum = [=](Values v) { return in_type(wide, v[0] + v[1]); };
    auto product = [=](Values v) { return in_type(wide, v[0] * v[1]); };
    all.push_back(intrinsic(t, I::widening_add, {t, t}, wide, sum));
    all.push_back(intrinsic(t, I::widening_sub, {t, t}, wide_int,
                            [](Values v) -> Exact { return v[0] - v[1]; }));
    all.push_back(intrinsic(t, I::widening_mul, {t, t}, wide, product));
    all.push_back(intrinsic(t, I::widening_mul, {t, other}, wide_int,
                            [](Values v) -> Exact { return v[0] * v[1]; }));
    all.push_back(intrinsic(t, I::widening_shift_left, {t, count}, wide,
                            [=](Values v) -> Exact { return shifted(v[0], v[1]); }));
    all.push_back(intrinsic(t, I::widening_shift_right, {t, count}, wide,
                            [=](Values v) -> Exact { return shifted(v[0], -v[1]); }));
    all.push_back(intrinsic(t, I::widen_right_add, {wide, t}, wide, sum));
    all.push_back(intrinsic(t, I::widen_right_sub, {wide, t}, wide,
                            [=](Values v) { return in_type(wide, v[0] - v[1]); }));
    all.push_back(intrinsic(t, I::widen_right_mul, {wide, t}, wide, product));
    Type bits = wide.with_code(TypeCode::UInt), half = t.with_code(TypeCode::UInt);
    all.push_back(intrinsic(t, I::concat_bits, {half, half}, bits,
                            [=](Values v) -> Exact { return v[0] | v[1] << t.bits(); }));
    all.push_back(intrinsic(t, I::extract_bits, {bits, UInt(32)}, half, [](Values v) -> Exact {
        return v[1] < 0 || v[1] > 64 ? Exact() : Exact(v[0] >> int(v[1]));
    }));
}

void add_saturating(std::vector<ElementCase> &all, Type t) {
    using I = Intrinsic;
    Type u = t.with_code(TypeCode::UInt);
    auto add = [&](I op, auto f) {
        all.push_back(
            intrinsic(t, op, {t, t}, t, [=](Values v) -> Exact { return f(v[0], v[1]); }));
    };
    add(I::saturating_add, [=](Wide a, Wide b) { return saturate(t, a + b); });
    add(I::saturating_sub, [=](Wide a, Wide b) { return saturate(t, a - b); });
    add(I::halving_add, [](Wide a, Wide b) { return (a + b) >> 1; });
    add(I::halving_sub, [](Wide a, Wide b) { return (a - b) >> 1; });
    add(I::rounding_halving_add, [](Wide a, Wide b) { return (a + b + 1) >> 1; });
    auto mul_shift = [=](bool round) {
        return [=](Values v) -> Exact {
            // Products of two uint64 do not fit the test's arithmetic.
            if (t.bits() == 64 && (v[0] >> 62 > 0 || v[1] >> 62 > 0)) return {};
            if (v[2] > 2 * t.bits()) return {};
            Wide product = v[0] * v[1];
            return saturate(t, v[2] == 0 ? product : shifted(product, -v[2], round));
        };
    };
    all.push_back(intrinsic(t, I::mul_shift_right, {t, t, u}, t, mul_shift(false)));
    all.push_back(intrinsic(t, I::rounding_mul_shift_right, {t, t, u}, t, mul_shift(true)));
    for (Type to : integer_types) {
        all.push_back(intrinsic(t, I::saturating_cast, {t}, to,
                                [=](Values v) -> Exact { return saturate(to, v[0]); }));
        all.back().name += str(" to ", to);
        all.push_back({str("cast ", t, " to ", to),
                       {t},
                       to,
                       [=](Operands e) { return cast(to, e[0]); },
                       [](Values v) -> Exact { return v[0]; }});
    }
    all.push_back({str("cast bool to ", t),
                   {Bool()},
                   t,
                   [=](Operands e) { return cast(t, e[0]); },
                   [](Values v) -> Exact { return v[0]; }});
    all.push_back({str("cast to bool ", t),
                   {t},
                   Bool(),
                   [=](Operands e) { return cast(Bool(), e[0]); },
                   [](Values v) -> Exact { return v[0] != 0; }});
}

// Shifts, quotients and the like by constants, which are other code.
void add_constants(std::vector<ElementCase> &all, Type t) {
    using I = Intrinsic;
    for (int64_t c :
         {int64_t(1), int64_t(2), int64_t(3), int64_t(7), int64_t(10), int64_t(64), int64_t(100),
          int64_t(-1), int64_t(-3), int64_t(-16), t.min_int(), t.max_int(), int64_t(0)}) {
        Wide by = wrap(t, c);
        auto operand = [=](const Expr &e) { return make_const(e.type(), int64_t(by)); };
        auto add = [&](const char *name, auto make, auto expected) {
            all.push_back({str(name, ' ', t, " by ", c),
                           {t},
                           t,
                           [=](Operands e) { return make(e[0], operand(e[0])); },
                           [=](Values v) { return in_type(t, expected(v[0], by)); }});
        };
        add("div", Div::make, euclid_div);
        add("mod", Mod::make, euclid_mod);
        all.push_back(intrinsic(t, I::div_round_to_zero, {t}, t, [=](Values v) -> Exact {
            return by == 0 ? Exact(0) : in_type(t, v[0] / by);
        }));
        all.back().build = [=](Operands e) {
            return call(e[0].type(), I::div_round_to_zero, {e[0], operand(e[0])});
        };
    }
    for (int c : {0, 1, 4, t.bits() - 1, t.bits(), -1, -3, 100}) {
        Type count = t.with_code(TypeCode::Int);
        auto add = [&](I op, int sign, bool round) {
            all.push_back(intrinsic(
                t, op, {t}, t, [=](Values v) -> Exact { return shifted(v[0], sign * c, round); }));
            all.back().name += str(" by ", c);
            all.back().build = [=](Operands e) {
                Expr amount = make_const(count.with_lanes(e[0].type().lanes()), c);
                return call(e[0].type(), op, {e[0], amount});
            };
        };
        add(I::shift_left, 1, false);
        add(I::shift_right, -1, false);
        add(I::rounding_shift_left, 1, true);
        add(I::rounding_shift_right, -1, true);
    }
    for (int c : {0, 7, 8, 15, 16, 31, 32}) {
        if (t.bits() == 64) continue;
        for (bool round : {false, true}) {
            I op = round ? I::rounding_mul_shift_right : I::mul_shift_right;
            all.push_back(intrinsic(t, op, {t, t}, t, [=](Values v) -> Exact {
                return saturate(t, c == 0 ? v[0] * v[1] : shifted(v[0] * v[1], -c, round));
            }));
            all.back().name += str(" by ", c);
            all.back().build = [=](Operands e) {
                Type u = UInt(t.bits(), e[0].type().lanes());
                return call(e[0].type(), op, {e[0], e[1], make_const(u, c)});
            };
        }
    }
}

void check_all(const char *target, const std::vector<int> &lanes) {
    for (Type t : integer_types) {
        std::vector<ElementCase> cases;
        add_arithmetic(cases, t);
        add_bits(cases, t);
        add_widening(cases, t);
        add_saturating(cases, t);
        add_constants(cases, t);
        check_cases(cases, Target(target), lanes);
    }
}

}  // namespace

TEST_SUITE("integer operations") {
    TEST_CASE("are exact for every type on the host") { check_all("host", {1, 3, 32}); }
    TEST_CASE("are exact without any vector extension") { check_all("x86-64-linux", {1, 8}); }
    TEST_CASE("are exact with SSE 4.1") { check_all("x86-64-linux-sse41", {16}); }
    TEST_CASE("are exact with AVX") {
        if (!get_host_target().has_feature(Target::AVX)) return;
        check_all("x86-64-linux-avx", {16});
    }
    TEST_CASE("are exact with AVX2") {
        if (!get_host_target().features_all_of({Target::AVX2, Target::FMA, Target::F16C})) return;
        check_all("x86-64-linux-avx2-fma-f16c", {24});
    }
    TEST_CASE("are exact on AArch64") { check_all("arm-64-linux", {3, 16}); }
}
