#include "algebra/fold.h"
#include "ir/operators.h"
#include "ir/parser.h"
#include "ir/printer.h"
#include <doctest/doctest.h>

#include <cmath>

using namespace tessera;
using namespace tessera::ir;
using namespace tessera::algebra;

namespace {

std::string fold(const char *text) {
    Expr folded = fold_constants(parse_expr(text));
    return folded.defined() ? to_string(folded) : "undefined";
}

}  // namespace

TEST_SUITE("fold") {
    TEST_CASE("integers wrap, or have no value where they must not overflow") {
        CHECK(fold("200:uint8 + 100:uint8") == "44:uint8");
        CHECK(fold("100:int8 + 100:int8") == "-56:int8");
        CHECK(fold("2147483647 + 1") == "undefined");
        CHECK(fold("uint8(300)") == "44:uint8");
        CHECK(fold("4294967295:uint32 * 4294967295:uint32") == "1:uint32");
    }
    TEST_CASE("division is Euclidean, and by zero is zero") {
        CHECK(fold("-7 / 2") == "-4");
        CHECK(fold("-7 % 2") == "1");
        CHECK(fold("-7 / -2") == "4");
        CHECK(fold("7 / 0") == "0");
        CHECK(fold("7 % 0") == "0");
    }
    TEST_CASE("min and max of floats leave out what is not a number") {
        CHECK(fold("min(nan, 2.0)") == to_string(Expr(2.0f)));
        CHECK(fold("max(2.0, nan)") == to_string(Expr(2.0f)));
        CHECK(fold("max(nan, nan)") == "nan");
    }
    TEST_CASE("floats round to their type, and casts truncate") {
        CHECK(fold("1.5:float32 * 3.0:float32") == to_string(Expr(4.5f)));
        CHECK(fold("int32(-2.7:float32)") == "-2");
        CHECK(fold("int32(1e20:float64)") == "2147483647");
        CHECK(fold("int32(1e20:float32)") == "2147483520");
        CHECK(fold("int32(-1e20:float32)") == "-2147483648");
        CHECK(fold("uint8(300.0:float32)") == "undefined");
        CHECK(fold("float16(65519:uint32)") == "65504.0:float16");
        for (const char *beyond : {"float16(4294967295:uint32)", "float16(65520)"}) {
            CHECK(fold(beyond) == to_string(make_float_const(Float(16), INFINITY)));
        }
        CHECK(fold("float16(-70000)") == to_string(make_float_const(Float(16), -INFINITY)));
        Expr third = fold_constants(Div::make(Expr(float16_t(1.0f)), Expr(float16_t(3.0f))));
        CHECK(third.as<FloatImm>()->value == double(float(float16_t(1.0f / 3.0f))));
    }
    TEST_CASE("intrinsics") {
        auto of = [](Type t, Intrinsic op, std::vector<Expr> args) {
            Expr folded = fold_constants(call(t, op, std::move(args)));
            return folded.defined() ? to_string(folded) : std::string("undefined");
        };
        CHECK(of(UInt(32), Intrinsic::abs, {Expr(-3)}) == "3:uint32");
        CHECK(of(UInt(8), Intrinsic::abs, {Expr(int8_t(-128))}) == "128:uint8");
        CHECK(of(UInt(8), Intrinsic::saturating_cast, {Expr(300)}) == "255:uint8");
        CHECK(of(UInt(8), Intrinsic::saturating_sub, {Expr(uint8_t(3)), Expr(uint8_t(5))}) ==
              "0:uint8");
        CHECK(of(UInt(8), Intrinsic::rounding_halving_add,
                 {Expr(uint8_t(254)), Expr(uint8_t(255))}) == "255:uint8");
        CHECK(of(Int(16), Intrinsic::widening_sub, {Expr(uint8_t(3)), Expr(uint8_t(5))}) ==
              "-2:int16");
        CHECK(of(Int(32), Intrinsic::shift_right, {Expr(-5), Expr(1)}) == "-3");
        CHECK(of(Int(32), Intrinsic::shift_left, {Expr(5), Expr(-1)}) == "2");
        CHECK(of(Int(32), Intrinsic::shift_left, {Expr(5), Expr(40)}) == "undefined");
        CHECK(of(Int(32), Intrinsic::count_leading_zeros, {Expr(1)}) == "31");
        CHECK(of(Int(32), Intrinsic::likely, {Expr(1)}) == "1");
    }
}
