#include "interpret/tape.h"
#include "ir/operators.h"
#include "ir/parser.h"
#include "ir/random_hash.h"
#include <bit>
#include <cmath>
#include <doctest/doctest.h>

using namespace tessera;
using namespace tessera::ir;
using interpret::evaluate;
using interpret::Value;

namespace {

int64_t int_value(const char *text) { return evaluate(parse_expr(text)).as_int(); }
double float_value(const char *text) { return evaluate(parse_expr(text)).as_double(); }
std::vector<int64_t> lanes(const char *text) {
    std::vector<int64_t> all;
    for (interpret::Word w : evaluate(parse_expr(text)).lanes) all.push_back(int64_t(w));
    return all;
}

}  // namespace

TEST_SUITE("evaluate") {
    TEST_CASE("narrow and unsigned integers wrap") {
        CHECK(int_value("100:int8 + 100:int8") == -56);
        CHECK(int_value("200:uint8 + 100:uint8") == 44);
        CHECK(int_value("3:uint16 - 5:uint16") == 65534);
        CHECK(int_value("int8(300)") == 44);
        CHECK(int_value("uint32(-1)") == 0xFFFFFFFF);
        CHECK(int_value("300:int16 * 300:int16") == int16_t(90000));
    }
    TEST_CASE("division and modulus are Euclidean, and by zero give zero") {
        CHECK(int_value("-7 / 2") == -4);
        CHECK(int_value("-7 % 2") == 1);
        CHECK(int_value("-7 / -2") == 4);
        CHECK(int_value("7 % -2") == 1);
        CHECK(int_value("7 / 0") == 0);
        CHECK(int_value("7 % 0") == 0);
        CHECK(int_value("div_round_to_zero(-7, 2)") == -3);
        CHECK(int_value("mod_round_to_zero(-7, 2)") == -1);
    }
    TEST_CASE("comparisons respect the sign") {
        CHECK(int_value("-1 < 1") == 1);
        CHECK(int_value("uint32(-1) < 1:uint32") == 0);
        CHECK(int_value("min(-1:int8, 1:int8)") == -1);
        CHECK(int_value("max(255:uint8, 1:uint8)") == 255);
        CHECK(int_value("nan == nan") == 0);
    }
    TEST_CASE("the families compute as if without overflow") {
        CHECK(int_value("widening_mul(-128:int8, -128:int8)") == 16384);
        CHECK(int_value("widening_sub(3:uint8, 5:uint8)") == -2);
        CHECK(int_value("saturating_add(100:int8, 100:int8)") == 127);
        CHECK(int_value("saturating_sub(3:uint8, 5:uint8)") == 0);
        CHECK(int_value("halving_add(255:uint8, 254:uint8)") == 254);
        CHECK(int_value("rounding_halving_add(255:uint8, 254:uint8)") == 255);
        CHECK(int_value("halving_sub(-128:int8, 127:int8)") == -128);
        CHECK(int_value("absd(-128:int8, 127:int8):uint8") == 255);
        CHECK(int_value("abs(-128:int8)") == 128);
        CHECK(int_value("rounding_shift_right(7, 1)") == 4);
        CHECK(int_value("rounding_shift_right(-7, 1)") == -3);
        CHECK(int_value("rounding_shift_left(7, -1)") == 4);
        CHECK(int_value("mul_shift_right(127:int8, 127:int8, 2:uint8)") == 127);
        CHECK(int_value("rounding_mul_shift_right(100:int16, 100:int16, 7:uint16)") == 78);
        CHECK(int_value("saturating_cast(300:int16):uint8") == 255);
        CHECK(int_value("saturating_cast(-5:int16):uint8") == 0);
        CHECK(int_value("saturating_cast(1e20):int32") == 2147483647);
    }
    TEST_CASE("shifts take any count, negative ones the other way") {
        CHECK(int_value("shift_left(1, 4)") == 16);
        CHECK(int_value("shift_left(16, -4)") == 1);
        CHECK(int_value("shift_right(-16, 2)") == -4);
        CHECK(int_value("shift_right(-16, 40)") == -1);
        CHECK(int_value("shift_left(1:uint8, 8:uint8)") == 0);
    }
    TEST_CASE("bits are counted, taken apart and put together") {
        CHECK(int_value("popcount(-1:int8)") == 8);
        CHECK(int_value("count_leading_zeros(1:uint8)") == 7);
        CHECK(int_value("count_trailing_zeros(0:uint16)") == 16);
        CHECK(int_value("concat_bits(1:uint8, 2:uint8):uint16") == 513);
        CHECK(int_value("extract_bits(513:uint16, 8):uint8") == 2);
        CHECK(int_value("bitwise_not(0:int8)") == -1);
        CHECK(int_value("reinterpret int8(200:uint8)") == -56);
        CHECK(evaluate(parse_expr("reinterpret uint32(1.0)")).word() == 0x3F800000);
        CHECK(lanes("reinterpret uint8x4(67305985)") == std::vector<int64_t>{1, 2, 3, 4});
    }
    TEST_CASE("an unsigned weight of lerp counts in parts of its greatest value, rounded") {
        for (int w = 0; w < 256; w += 5) {
            Expr e =
                call(UInt(8), Intrinsic::lerp,
                     {make_const(UInt(8), 10), make_const(UInt(8), 250), make_const(UInt(8), w)});
            CHECK(evaluate(e).as_int() == std::lround(10 + 240 * (w / 255.0)));
        }
        CHECK(int_value("lerp(-100:int8, 100:int8, 255:uint8)") == 100);
        CHECK(float_value("lerp(1.0, 3.0, 0.25)") == 1.5);
    }
    TEST_CASE("floats are rounded to their own precision after each operation") {
        CHECK(float_value("2048.0:float16 + 1.0:float16") == 2048);
        CHECK(float_value("256.0:bfloat16 + 1.0:bfloat16") == 256);
        CHECK(float_value("16777216.0 + 1.0") == 16777216.0);
        CHECK(float_value("16777216.0:float64 + 1.0:float64") == 16777217.0);
        CHECK(float_value("round(2.5)") == 2.0);
        CHECK(float_value("floor(-2.5)") == -3.0);
        CHECK(float_value("-7.5 % 2.0") == doctest::Approx(0.5));
        CHECK(int_value("int32(-2.9)") == -2);
        CHECK(float_value("pow(2.0, 10.0)") == 1024);
        CHECK(float_value("sqrt(2.0)") == std::sqrt(2.0f));
        CHECK(int_value("is_nan(nan)") == 1);
        CHECK(float_value("min(nan, 2.0)") == 2.0);
        CHECK(float_value("max(2.0, nan)") == 2.0);
        CHECK(float_value("max(nan:float16, -inf:float16)") == -INFINITY);
        CHECK(int_value("is_nan(min(nan, nan))") == 1);
        CHECK(int_value("is_finite(inf)") == 0);
    }
    TEST_CASE("vectors are worked on lane by lane") {
        CHECK(lanes("ramp(x8(3), x8(2), 2)") ==
              std::vector<int64_t>{3, 3, 3, 3, 3, 3, 3, 3, 5, 5, 5, 5, 5, 5, 5, 5});
        CHECK(lanes("ramp(1, 2, 4) * x4(3)") == std::vector<int64_t>{3, 9, 15, 21});
        CHECK(lanes("shuffle(ramp(0, 1, 4), ramp(4, 1, 4), [7, 0, 4])") ==
              std::vector<int64_t>{7, 0, 4});
        CHECK(lanes("interleave(ramp(0, 1, 2), ramp(8, 1, 2))") ==
              std::vector<int64_t>{0, 8, 1, 9});
        CHECK(lanes("vector_reduce(add, ramp(1, 1, 6), 2)") == std::vector<int64_t>{6, 15});
        CHECK(lanes("vector_reduce(max, ramp(1, 1, 6), 1)") == std::vector<int64_t>{6});
        CHECK(lanes("select(ramp(0, 1, 3) < x3(2), x3(5), x3(6))") ==
              std::vector<int64_t>{5, 5, 6});
    }
    TEST_CASE("let, and only one side of if_then_else") {
        CHECK(int_value("let a = 3 in let b = a * 2 in a + b") == 9);
        CHECK(int_value("if_then_else(1 < 2, 5, 6)") == 5);
        // The other side may not even have a value.
        CHECK(int_value("if_then_else(2 < 1, extern int32 no_such_function(1), 6)") == 6);
    }
    TEST_CASE("the same symbol may be bound in two branches") {
        Symbol t = Symbol::fresh("t");
        Expr v = Variable::make(Int(32), t), shared = v * v;
        Expr e = Let::make(t, Expr(3), shared) + Let::make(t, Expr(5), shared);
        CHECK(evaluate(e).as_int() == 34);
    }
    TEST_CASE("a graph of shared nodes takes linear time") {
        Symbol x = Symbol::fresh("x");
        Expr e = Variable::make(Int(32), x);
        for (int i = 0; i < 5000; i++) e = (e + e) % 1000003;
        CHECK(evaluate(e, {{x, Value::of_int(Int(32), 1)}}).as_int() >= 0);
    }
    TEST_CASE("random numbers are those of the expression that lowering puts there") {
        for (Type t : {Float(32), Int(32), UInt(32)}) {
            for (int i = 0; i < 50; i++) {
                Expr e = call(t, Intrinsic::random, {Expr(i), Expr(7), Expr(i * i - 40)});
                Expr expanded = expand_random(*e.as<IntrinsicCall>());
                CHECK(evaluate(e).word() == evaluate(expanded).word());
                if (t.is_float()) CHECK(evaluate(e).as_double() < 1.0);
            }
        }
    }
    TEST_CASE("an expression that needs more than variables is refused") {
        CHECK_THROWS_AS(evaluate(parse_expr("b[3]")), InternalError);
        CHECK_THROWS_AS(evaluate(parse_expr("x + 1")), InternalError);
    }
}
