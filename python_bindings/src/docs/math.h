#pragma once

// Docstrings of the functions of numbers. The names in their examples are those of
// tests/examples.py.
namespace tessera::python::docs {
namespace math {

inline constexpr char abs[] =
    R"doc(Returns |a|; of a signed integer an unsigned one, so that it never overflows.

>>> ts.evaluate(ts.abs(-5)), ts.abs(ts.i8(x)).type()
(5, uint8)
)doc";

inline constexpr char sin[] =
    R"doc(Returns the sine of an angle in radians; integers become float32, in all functions of floats.

>>> ts.evaluate(ts.sin(0.5))
0.4794...
)doc";

inline constexpr char cos[] = R"doc(Returns the cosine of an angle in radians.

>>> ts.evaluate(ts.cos(0.5))
0.8775...
)doc";

inline constexpr char tan[] = R"doc(Returns the tangent of an angle in radians.

>>> ts.evaluate(ts.tan(0.5))
0.5463...
)doc";

inline constexpr char asin[] = R"doc(Returns the arc sine, in radians from -pi / 2 to pi / 2.

>>> ts.evaluate(ts.asin(0.5))
0.5235...
)doc";

inline constexpr char acos[] = R"doc(Returns the arc cosine, in radians from 0 to pi.

>>> ts.evaluate(ts.acos(0.5))
1.0471...
)doc";

inline constexpr char atan[] = R"doc(Returns the arc tangent, in radians from -pi / 2 to pi / 2.

>>> ts.evaluate(ts.atan(0.5))
0.4636...
)doc";

inline constexpr char sinh[] = R"doc(Returns the hyperbolic sine.

>>> ts.evaluate(ts.sinh(0.5))
0.5210...
)doc";

inline constexpr char cosh[] = R"doc(Returns the hyperbolic cosine.

>>> ts.evaluate(ts.cosh(0.5))
1.1276...
)doc";

inline constexpr char tanh[] = R"doc(Returns the hyperbolic tangent.

>>> ts.evaluate(ts.tanh(0.5))
0.4621...
)doc";

inline constexpr char asinh[] = R"doc(Returns the inverse hyperbolic sine.

>>> ts.evaluate(ts.asinh(0.5))
0.4812...
)doc";

inline constexpr char acosh[] = R"doc(Returns the inverse hyperbolic cosine; a NaN below 1.

>>> ts.evaluate(ts.acosh(1.5))
0.9624...
)doc";

inline constexpr char atanh[] =
    R"doc(Returns the inverse hyperbolic tangent; a NaN outside of [-1, 1].

>>> ts.evaluate(ts.atanh(0.5))
0.5493...
)doc";

inline constexpr char sqrt[] = R"doc(Returns the square root; a NaN of what is negative.

>>> ts.evaluate(ts.sqrt(2.0))
1.4142...
>>> ts.sqrt(ts.f64(x)).type()
float64
)doc";

inline constexpr char exp[] = R"doc(Returns e to this power.

>>> ts.evaluate(ts.exp(1.0))
2.7182...
)doc";

inline constexpr char log[] = R"doc(Returns the natural logarithm.

>>> ts.evaluate(ts.log(10.0))
2.3025...
)doc";

inline constexpr char erf[] = R"doc(Returns the error function, to about 1e-6.

>>> ts.evaluate(ts.erf(0.5))
0.5204...
)doc";

inline constexpr char floor[] = R"doc(Rounds down, to a float.

>>> ts.evaluate(ts.floor(-1.5))
-2.0
)doc";

inline constexpr char ceil[] = R"doc(Rounds up, to a float.

>>> ts.evaluate(ts.ceil(-1.5))
-1.0
)doc";

inline constexpr char round[] = R"doc(Rounds to the nearest integer, half to even, as a float.

>>> ts.evaluate((ts.round(1.5), ts.round(2.5)))
(2.0, 2.0)
)doc";

inline constexpr char trunc[] = R"doc(Rounds to zero, to a float.

>>> ts.evaluate(ts.trunc(-1.5))
-1.0
)doc";

inline constexpr char fract[] = R"doc(Returns x - trunc(x), which has the sign of x.

>>> ts.evaluate(ts.fract(-1.25))
-0.25
)doc";

inline constexpr char is_nan[] = R"doc(Returns true for a NaN.

>>> ts.evaluate(ts.is_nan(ts.sqrt(-1.0)))
True
)doc";

inline constexpr char is_inf[] = R"doc(Returns true for an infinity.

>>> ts.evaluate(ts.is_inf(ts.f32(float("inf"))))
True
)doc";

inline constexpr char is_finite[] = R"doc(Returns true for what is neither an infinity nor a NaN.

>>> ts.evaluate(ts.is_finite(1.0))
True
)doc";

inline constexpr char fast_sin[] =
    R"doc(Returns the sine with an absolute error below 1e-5 for |x| up to 1000.

>>> abs(ts.evaluate(ts.fast_sin(0.5)) - 0.4794255) < 1e-5
True
)doc";

inline constexpr char fast_cos[] =
    R"doc(Returns the cosine with an absolute error below 1e-5 for |x| up to 1000.

>>> abs(ts.evaluate(ts.fast_cos(0.5)) - 0.8775826) < 1e-5
True
)doc";

inline constexpr char fast_exp[] = R"doc(Returns e to this power with a relative error below 1e-5.

>>> abs(ts.evaluate(ts.fast_exp(0.5)) / 1.6487213 - 1) < 1e-5
True
)doc";

inline constexpr char fast_log[] =
    R"doc(Returns the natural logarithm with an absolute error below 1e-5 near 1.

>>> abs(ts.evaluate(ts.fast_log(1.5)) - 0.4054651) < 1e-5
True
)doc";

inline constexpr char fast_inverse[] =
    R"doc(Returns about 1 / x, by the target's estimate where it has one.

>>> abs(ts.evaluate(ts.fast_inverse(4.0)) - 0.25) < 1e-3
True
)doc";

inline constexpr char fast_inverse_sqrt[] =
    R"doc(Returns about 1 / sqrt(x), by the target's estimate where it has one.

>>> abs(ts.evaluate(ts.fast_inverse_sqrt(4.0)) - 0.5) < 1e-3
True
)doc";

inline constexpr char strict_float[] =
    R"doc(Rounds each operation of the expression on its own: none is merged with another or reordered.

>>> ts.strict_float(ts.f32(x) * 2 + 1)
strict_float(float32(x) * 2.0 + 1.0)
)doc";

inline constexpr char popcount[] = R"doc(Returns the number of bits that are set.

>>> ts.evaluate(ts.popcount(7))
3
)doc";

inline constexpr char count_leading_zeros[] =
    R"doc(Returns the number of zeros above the highest bit that is set.

>>> ts.evaluate(ts.count_leading_zeros(ts.u8(7)))
5
)doc";

inline constexpr char count_trailing_zeros[] =
    R"doc(Returns the number of zeros below the lowest bit that is set.

>>> ts.evaluate(ts.count_trailing_zeros(ts.u8(8)))
3
)doc";

inline constexpr char absd[] =
    R"doc(Returns |a - b|, which never overflows; of integers an unsigned one.

>>> ts.evaluate(ts.absd(ts.u8(3), ts.u8(10)))
7
)doc";

inline constexpr char atan2[] =
    R"doc(Returns the angle of the point (x=b, y=a), in radians from -pi to pi.

>>> ts.evaluate(ts.atan2(1.0, -1.0))
2.3561...
)doc";

inline constexpr char hypot[] = R"doc(Returns sqrt(a * a + b * b).

>>> ts.evaluate(ts.hypot(3.0, 4.0))
5.0
)doc";

inline constexpr char pow[] =
    R"doc(Returns a to the power of b, as `a ** b` does; of integers as a float32.

>>> ts.evaluate((ts.pow(2, 10), ts.pow(2.0, 0.5)))
(1024.0, 1.4142...)
)doc";

inline constexpr char fast_pow[] = R"doc(Returns about a to the power of b, as floats.

>>> abs(ts.evaluate(ts.fast_pow(2.0, 0.5)) - 2 ** 0.5) < 1e-4
True
)doc";

inline constexpr char div_round_to_zero[] =
    R"doc(Divides integers, rounding to zero, as C does; `/` rounds down.

>>> ts.evaluate((ts.div_round_to_zero(-7, 2), ts.Expr(-7) / 2))
(-3, -4)
)doc";

inline constexpr char mod_round_to_zero[] =
    R"doc(Returns the remainder that div_round_to_zero leaves, which has the sign of a.

>>> ts.evaluate((ts.mod_round_to_zero(-7, 2), ts.Expr(-7) % 2))
(-1, 1)
)doc";

inline constexpr char fast_integer_divide[] =
    R"doc(Divides an integer by a uint8, rounding down, by a table; 0 stands for 256.

>>> ts.evaluate(ts.fast_integer_divide(ts.i16(-7), ts.u8(2)))
-4
)doc";

inline constexpr char fast_integer_divide_round_to_zero[] =
    R"doc(Divides an integer by a uint8, rounding to zero, by a table; 0 stands for 256.

>>> ts.evaluate(ts.fast_integer_divide_round_to_zero(ts.i16(-7), ts.u8(2)))
-3
)doc";

inline constexpr char fast_integer_modulo[] =
    R"doc(Returns the remainder that fast_integer_divide leaves.

>>> ts.evaluate(ts.fast_integer_modulo(ts.i16(-7), ts.u8(2)))
1
)doc";

inline constexpr char widening_add[] = R"doc(Adds in a type of twice the bits.

>>> e = ts.widening_add(ts.u8(200), ts.u8(100))
>>> ts.evaluate(e), e.type()
(300, uint16)
)doc";

inline constexpr char widening_sub[] = R"doc(Subtracts in a signed type of twice the bits.

>>> e = ts.widening_sub(ts.u8(100), ts.u8(200))
>>> ts.evaluate(e), e.type()
(-100, int16)
)doc";

inline constexpr char widening_mul[] = R"doc(Multiplies in a type of twice the bits.

>>> e = ts.widening_mul(ts.u8(200), ts.u8(100))
>>> ts.evaluate(e), e.type()
(20000, uint16)
)doc";

inline constexpr char widening_shift_left[] = R"doc(Shifts in a type of twice the bits.

>>> ts.evaluate(ts.widening_shift_left(ts.u8(200), ts.u8(4)))
3200
)doc";

inline constexpr char widening_shift_right[] =
    R"doc(Shifts in a type of twice the bits; to the left for negative counts.

>>> ts.evaluate(ts.widening_shift_right(ts.u8(200), ts.u8(4)))
12
)doc";

inline constexpr char widen_right_add[] = R"doc(Adds an operand of half the bits.

>>> ts.evaluate(ts.widen_right_add(ts.u16(1000), ts.u8(200)))
1200
)doc";

inline constexpr char widen_right_sub[] = R"doc(Subtracts an operand of half the bits.

>>> ts.evaluate(ts.widen_right_sub(ts.u16(1000), ts.u8(200)))
800
)doc";

inline constexpr char widen_right_mul[] = R"doc(Multiplies by an operand of half the bits.

>>> ts.evaluate(ts.widen_right_mul(ts.u16(100), ts.u8(200)))
20000
)doc";

inline constexpr char saturating_add[] = R"doc(Adds, to the nearest value of the type.

>>> ts.evaluate(ts.saturating_add(ts.u8(200), ts.u8(100)))
255
)doc";

inline constexpr char saturating_sub[] = R"doc(Subtracts, to the nearest value of the type.

>>> ts.evaluate(ts.saturating_sub(ts.u8(100), ts.u8(200)))
0
)doc";

inline constexpr char halving_add[] = R"doc(Returns (a + b) / 2 as if in a wider type.

>>> ts.evaluate(ts.halving_add(ts.u8(200), ts.u8(101)))
150
)doc";

inline constexpr char halving_sub[] = R"doc(Returns (a - b) / 2 as if in a wider type.

>>> ts.evaluate(ts.halving_sub(ts.u8(200), ts.u8(101)))
49
)doc";

inline constexpr char rounding_halving_add[] = R"doc(Returns (a + b + 1) / 2 as if in a wider type.

>>> ts.evaluate(ts.rounding_halving_add(ts.u8(200), ts.u8(101)))
151
)doc";

inline constexpr char rounding_shift_left[] =
    R"doc(Shifts left; to the right, rounding half up, for negative counts.

>>> ts.evaluate((ts.rounding_shift_left(ts.i8(3), ts.i8(2)), ts.rounding_shift_left(ts.i8(7), ts.i8(-1))))
(12, 4)
)doc";

inline constexpr char rounding_shift_right[] = R"doc(Shifts right, rounding half up.

>>> ts.evaluate(ts.rounding_shift_right(ts.u8(7), ts.u8(1)))
4
)doc";

inline constexpr char clamp[] = R"doc(Returns the nearest value from min to max, in the type of a.

>>> ts.evaluate(ts.clamp(300, 0, 255))
255
>>> ts.clamp(x, 0, 9)
max(min(x, 9), 0)
)doc";

inline constexpr char lerp[] =
    R"doc(Interpolates: zero_val where the weight is 0, one_val where it is 1.

The weight is a float from 0 to 1, or an unsigned integer, whose largest value stands for 1.

>>> ts.evaluate((ts.lerp(10.0, 20.0, 0.25), ts.lerp(ts.u8(10), ts.u8(20), ts.u8(128))))
(12.5, 15)
)doc";

inline constexpr char fma[] = R"doc(Returns a * b + c, rounded once.

>>> ts.evaluate(ts.fma(2.0, 3.0, 4.0))
10.0
)doc";

inline constexpr char mul_shift_right[] =
    R"doc(Returns a * b >> q, computed in a wider type, to the nearest value of the type.

>>> ts.evaluate(ts.mul_shift_right(ts.i16(1000), ts.i16(3000), ts.u16(8)))
11718
)doc";

inline constexpr char rounding_mul_shift_right[] =
    R"doc(Returns a * b >> q rounded half up, computed in a wider type, to the nearest value of the type.

>>> ts.evaluate(ts.rounding_mul_shift_right(ts.i16(1000), ts.i16(3000), ts.u16(8)))
11719
)doc";

inline constexpr char unsafe_promise_clamped[] =
    R"doc(Returns the value, which is promised to lie from min to max; Expr() is no limit.

Nothing checks the promise: what is read outside of a buffer for its sake is undefined.

>>> table, q = ts.Func("table"), ts.Func("q")
>>> table[x] = x * x
>>> table.compute_root()                              # the points 0 to 9
<Func table(x): int32>
>>> q[x] = table[ts.unsafe_promise_clamped(f[x, 0], 0, 9)]
>>> q.realize([4]).numpy().tolist()
[0, 1, 4, 9]
)doc";

inline constexpr char cast[] =
    R"doc(Converts to the type: integers wrap, and floats are rounded to zero.

>>> ts.evaluate((ts.cast(ts.UInt(8), 300), ts.cast(int, -2.75)))
(44, -2)
>>> ts.cast(np.float32, x)
float32(x)
)doc";

inline constexpr char reinterpret[] =
    R"doc(Returns the same bits, seen as another type of as many bits.

>>> hex(ts.evaluate(ts.reinterpret(ts.UInt(32), ts.f32(1.0))))
'0x3f800000'
)doc";

inline constexpr char saturating_cast[] = R"doc(Returns the nearest value that the type has.

>>> ts.evaluate((ts.saturating_cast(ts.UInt(8), 300), ts.saturating_cast(ts.UInt(8), -5)))
(255, 0)
)doc";

inline constexpr char extract_bits[] = R"doc(Returns the bits from lsb on, as many as the type has.

>>> hex(ts.evaluate(ts.extract_bits(ts.UInt(8), ts.u32(0x12345678), 8)))
'0x56'
)doc";

inline constexpr char concat_bits[] =
    R"doc(Returns an unsigned integer of all the bits, the least significant part first.

>>> hex(ts.evaluate(ts.concat_bits([ts.u8(0x34), ts.u8(0x12)])))
'0x1234'
)doc";

}  // namespace math
}  // namespace tessera::python::docs
