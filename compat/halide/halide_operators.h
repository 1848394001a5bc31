#pragma once
#include "ir/printer.h"
#include "lang/func_ref.h"
#include "lang/operators.h"
#include <concepts>

// Operators of an expression and a C++ integer, or what C++ makes one of: a bool, an enumerator.
// Halide takes it for one of the expression's type and refuses one that this type does not have, as
// it refuses a sum of constants that overflows; Tessera's own operators choose a wider type, and
// wrap. An Expr that is a constant is no such integer.
namespace tessera::ir {

namespace halide {

// A C++ integer as an operand: what Halide takes for an int.
template<typename T>
concept Integer = std::integral<T> || (std::is_enum_v<T> && std::convertible_to<T, int>);

[[noreturn]] inline void refuse_integer(Type t, int64_t value, const Location &at) {
    throw CompileError(at, str("the integer ", value, " is to be a ", t,
                               " as the expression beside "
                               "it, which cannot hold it; cast one of them"));
}
inline Expr integer_operand(const Expr &other, int64_t value, const Location &at) {
    if (!other.defined() || other.type().is_handle()) {
        if (value == int32_t(value)) return Expr(int32_t(value));
        throw CompileError(at, str("the integer ", value,
                                   " is no int32; cast it to an Expr of the "
                                   "type that is wanted"));
    }
    const Type t = other.type().element_of();
    if (t.is_float()) {
        Expr same = make_const(t, value);
        if (!is_const(same, value)) refuse_integer(t, value, at);
        return same;
    }
    if (!t.can_represent(value)) refuse_integer(t, value, at);
    return make_const(t, value);
}
// Returns a count of as many bits as what is shifted has; negative ones shift the other way.
inline Expr shift_count(const Expr &shifted, int64_t bits, const Location &at) {
    if (!shifted.defined() || !shifted.type().is_int_or_uint()) return Expr(int32_t(bits));
    if (shifted.type().is_bool()) {
        throw CompileError(at, "a bool has one bit to shift; cast it to an integer first");
    }
    const Type signed_type = Int(shifted.type().bits()), unsigned_type = UInt(signed_type.bits());
    const Type t = bits < 0 ? signed_type : unsigned_type;
    if (!t.can_represent(bits)) refuse_integer(t, bits, at);
    return make_const(t, bits);
}

inline Expr checked(char operation, const Expr &a, const Expr &b, const Expr &result,
                    const Location &at) {
    const auto *x = a.as<IntImm>(), *y = b.as<IntImm>();
    if (!x || !y || a.type().bits() < 32 || result.as<IntImm>()) return result;
    if (operation != '+' && operation != '-' && operation != '*') return result;
    throw CompileError(at, str(a, " ", operation, " ", b, " overflows ", a.type(),
                               "; cast to a wider type first"));
}

}  // namespace halide

// With the integer first, one for an Expr itself, which C++ prefers to conversions, and one for
// what converts to it; only the latter knows the line.
#define TESSERA_INTEGER_OPERAND(op)                                                                \
    template<halide::Integer Int>                                                                  \
    Expr operator op(WrittenExpr a, Int b) {                                                       \
        const Location at = a.at;                                                                  \
        if (#op[0] == '%' && b == 0) throw CompileError(at, "the remainder of a division by 0");   \
        Expr x = a, y = halide::integer_operand(a, int64_t(b), at);                                \
        return halide::checked(#op[0], x, y, operator op(std::move(a), Expr(y)), at);              \
    }                                                                                              \
    template<halide::Integer Int>                                                                  \
    Expr operator op(Int a, WrittenExpr b) {                                                       \
        const Location at = b.at;                                                                  \
        Expr x = halide::integer_operand(b, int64_t(a), at), y = b;                                \
        return halide::checked(#op[0], x, y, operator op(WrittenExpr(x, at), y), at);              \
    }                                                                                              \
    template<halide::Integer Int, std::same_as<Expr> E>                                            \
    Expr operator op(Int a, const E &b) {                                                          \
        return operator op(a, WrittenExpr(b, Location()));                                         \
    }
TESSERA_INTEGER_OPERAND(+)
TESSERA_INTEGER_OPERAND(-)
TESSERA_INTEGER_OPERAND(*)
TESSERA_INTEGER_OPERAND(/)
TESSERA_INTEGER_OPERAND(%)
TESSERA_INTEGER_OPERAND(<)
TESSERA_INTEGER_OPERAND(<=)
TESSERA_INTEGER_OPERAND(>)
TESSERA_INTEGER_OPERAND(>=)
TESSERA_INTEGER_OPERAND(&)
TESSERA_INTEGER_OPERAND(|)
TESSERA_INTEGER_OPERAND(^)
#undef TESSERA_INTEGER_OPERAND

#define TESSERA_INTEGER_COMPARISON(op)                                                             \
    template<halide::Integer Int>                                                                  \
    Expr operator op(WrittenExpr a, Int b) {                                                       \
        Expr y = halide::integer_operand(a, int64_t(b), a.at);                                     \
        return operator op(std::move(a), WrittenExpr(y));                                          \
    }                                                                                              \
    template<halide::Integer Int>                                                                  \
    Expr operator op(Int a, WrittenExpr b) {                                                       \
        Expr x = halide::integer_operand(b, int64_t(a), b.at);                                     \
        return operator op(WrittenExpr(x, b.at), std::move(b));                                    \
    }
TESSERA_INTEGER_COMPARISON(==)
TESSERA_INTEGER_COMPARISON(!=)
#undef TESSERA_INTEGER_COMPARISON

// A shift does not take its type from the number of bits.
#define TESSERA_INTEGER_SHIFT(op)                                                                  \
    template<halide::Integer Int>                                                                  \
    Expr operator op(WrittenExpr a, Int bits) {                                                    \
        Expr y = halide::shift_count(a, int64_t(bits), a.at);                                      \
        return operator op(std::move(a), std::move(y));                                            \
    }
TESSERA_INTEGER_SHIFT(<<)
TESSERA_INTEGER_SHIFT(>>)
#undef TESSERA_INTEGER_SHIFT

// With a C++ bool.
#define TESSERA_BOOL_OPERAND(op)                                                                   \
    template<std::same_as<bool> Bool>                                                              \
    Expr operator op(WrittenExpr a, Bool b) {                                                      \
        return operator op(std::move(a), b ? const_true() : const_false());                        \
    }                                                                                              \
    template<std::same_as<bool> Bool>                                                              \
    Expr operator op(Bool a, WrittenExpr b) {                                                      \
        return operator op(WrittenExpr(a ? const_true() : const_false(), b.at), Expr(b));          \
    }                                                                                              \
    template<std::same_as<bool> Bool, std::same_as<Expr> E>                                        \
    Expr operator op(Bool a, const E &b) {                                                         \
        return operator op(a, WrittenExpr(b, Location()));                                         \
    }
TESSERA_BOOL_OPERAND(&&)
TESSERA_BOOL_OPERAND(||)
#undef TESSERA_BOOL_OPERAND

// With two operands they are as the operators, with more they take the first, and what the others
// give.
#define TESSERA_INTEGER_EXTREME(f)                                                                 \
    template<halide::Integer Int>                                                                  \
    Expr f(WrittenExpr a, Int b) {                                                                 \
        Expr y = halide::integer_operand(a, int64_t(b), a.at);                                     \
        return f(Expr(a), y, a.at);                                                                \
    }                                                                                              \
    template<halide::Integer Int>                                                                  \
    Expr f(Int a, WrittenExpr b) {                                                                 \
        Expr x = halide::integer_operand(b, int64_t(a), b.at);                                     \
        return f(x, Expr(b), b.at);                                                                \
    }                                                                                              \
    template<halide::Integer Int, std::same_as<Expr> E>                                            \
    Expr f(Int a, const E &b) {                                                                    \
        return f(a, WrittenExpr(b, Location()));                                                   \
    }                                                                                              \
    template<halide::Integer A, halide::Integer B>                                                 \
    Expr f(A a, B b) {                                                                             \
        Expr x = halide::integer_operand(Expr(), int64_t(a), {});                                  \
        return f(x, halide::integer_operand(Expr(), int64_t(b), {}), Location());                  \
    }                                                                                              \
    namespace halide {                                                                             \
    template<typename A, typename B, typename... Rest>                                             \
    Expr f##_of(const Location &at, const A &a, const B &b, const Rest &...rest) {                 \
        if constexpr (sizeof...(rest) > 0) {                                                       \
            Expr others = f##_of(at, b, rest...);                                                  \
            if constexpr (Integer<A>)                                                              \
                return ir::f(a, WrittenExpr(others, at));                                          \
            else                                                                                   \
                return ir::f(Expr(a), others, at);                                                 \
        } else if constexpr (Integer<A> && Integer<B>) {                                           \
            return ir::f(a, b);                                                                    \
        } else if constexpr (Integer<A>) {                                                         \
            return ir::f(a, WrittenExpr(b, at));                                                   \
        } else if constexpr (Integer<B>) {                                                         \
            return ir::f(WrittenExpr(a, at), b);                                                   \
        } else {                                                                                   \
            return ir::f(Expr(a), Expr(b), at);                                                    \
        }                                                                                          \
    }                                                                                              \
    }                                                                                              \
    template<typename B, typename C, typename... Rest>                                             \
    requires(halide::Integer<B> || halide::Integer<C> || (halide::Integer<Rest> || ...))           \
    Expr f(const WrittenExpr &a, const B &b, const C &c, const Rest &...rest) {                    \
        return halide::f##_of(a.at, Expr(a), b, c, rest...);                                       \
    }                                                                                              \
    template<halide::Integer Int, typename B, typename C, typename... Rest>                        \
    requires(std::convertible_to<B, Expr> && std::convertible_to<C, Expr>)                         \
    Expr f(const Int &a, const B &b, const C &c, const Rest &...rest) {                            \
        return halide::f##_of(Location(), a, b, c, rest...);                                       \
    }
TESSERA_INTEGER_EXTREME(min)
TESSERA_INTEGER_EXTREME(max)
#undef TESSERA_INTEGER_EXTREME

// With `using namespace std`, too: std::min, std::max and std::clamp take two operands of one type
// as they are, and come before functions that convert. If both are Exprs, these come first.
namespace halide {
// An expression may be written as an Expr, or as something that converts to one.
template<typename T>
concept Written =
    std::convertible_to<T, Expr> && std::is_class_v<T> && !std::same_as<T, WrittenExpr>;
template<typename A, typename B>
concept Operands =
    (Written<A> && (Written<B> || std::convertible_to<B, Expr>)) ||
    (Written<B> && std::convertible_to<A, Expr> && !(Integer<A> && std::same_as<B, Expr>));
}  // namespace halide
#define TESSERA_EXTREME_OF_EXPRS(f)                                                                \
    inline Expr f(const FuncRef &a, const FuncRef &b,                                              \
                  Location at = std::source_location::current()) {                                 \
        return f(Expr(a), Expr(b), at);                                                            \
    }                                                                                              \
    template<typename A, typename B>                                                               \
    requires halide::Operands<A, B>                                                                \
    Expr f(const A &a, const B &b, Location at = std::source_location::current()) {                \
        return halide::f##_of(at, a, b);                                                           \
    }
TESSERA_EXTREME_OF_EXPRS(min)
TESSERA_EXTREME_OF_EXPRS(max)
#undef TESSERA_EXTREME_OF_EXPRS
template<halide::Written A>
Expr clamp(const A &a, const Expr &low, const Expr &high,
           Location at = std::source_location::current()) {
    return clamp(Expr(a), low, high, at);
}

}  // namespace tessera::ir

// A name in another namespace is of what was declared before it: once more, for these.
namespace tessera {
using ir::operator+;
using ir::operator-;
using ir::operator*;
using ir::operator/;
using ir::operator%;
using ir::operator==;
using ir::operator!=;
using ir::operator<;
using ir::operator<=;
using ir::operator>;
using ir::operator>=;
using ir::operator&&;
using ir::operator||;
using ir::operator&;
using ir::operator|;
using ir::operator^;
using ir::operator<<;
using ir::operator>>;
using ir::clamp;
using ir::max;
using ir::min;

#define TESSERA_INTEGER_SHIFT(f)                                                                   \
    template<ir::halide::Integer Int>                                                              \
    Expr f(const Expr &a, Int bits, Location at = Here::current()) {                               \
        return f(a, ir::halide::shift_count(a, int64_t(bits), at), at);                            \
    }
TESSERA_INTEGER_SHIFT(widening_shift_left)
TESSERA_INTEGER_SHIFT(widening_shift_right)
TESSERA_INTEGER_SHIFT(rounding_shift_left)
TESSERA_INTEGER_SHIFT(rounding_shift_right)
#undef TESSERA_INTEGER_SHIFT
}  // namespace tessera

namespace tessera::ir {  // as in lang/operators.h

using tessera::rounding_shift_left;
using tessera::rounding_shift_right;
using tessera::widening_shift_left;
using tessera::widening_shift_right;

}  // namespace tessera::ir
