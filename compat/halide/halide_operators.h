#pragma once
#include "ir/printer.h"
#include "lang/operators.h"
#include <concepts>
#include <utility>

// Operators of an expression and a C++ integer. Halide takes the integer for one of the
// expression's type and refuses one that this type does not have, as it refuses a sum of constants
// that overflows; Tessera's own operators choose a wider type, and wrap.
namespace tessera::ir {

namespace halide {

template<typename T>
concept Integer = std::integral<T> && !std::same_as<T, bool>;

// C++ converts any integer to the `int` that Halide's operators take; what does not fit is refused.
template<Integer T>
int as_int(T value, const Location &at) {
    if (std::in_range<int>(value)) return int(value);
    throw CompileError(at, str("the integer ", value, " is no int32; cast it to an Expr of the type "
                               "that is meant, as in Expr(int64_t(", value, "))"));
}

inline Expr integer_operand(const Expr &other, int value, const Location &at) {
    if (!other.defined() || !other.type().is_int_or_uint() || other.type().is_bool()) return value;
    const Type t = other.type().element_of();
    if (t.can_represent(int64_t(value))) return value;
    throw CompileError(at, str("the integer ", value, " is to be a ", t, " as the expression beside "
                               "it, which cannot hold it; cast one of them"));
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

#define TESSERA_INTEGER_OPERAND(op)                                                                \
    template<halide::Integer Int>                                                                \
    Expr operator op(WrittenExpr a, Int b) {                                                       \
        const Location at = a.at;                                                                  \
        if (#op[0] == '%' && b == 0) throw CompileError(at, "the remainder of a division by 0");   \
        Expr x = a, y = halide::integer_operand(a, halide::as_int(b, at), at);                                         \
        return halide::checked(#op[0], x, y, operator op(std::move(a), Expr(y)), at);              \
    }                                                                                              \
    template<halide::Integer Int>                                                                \
    Expr operator op(Int a, WrittenExpr b) {                                                       \
        const Location at = b.at;                                                                  \
        Expr x = halide::integer_operand(b, halide::as_int(a, at), at), y = b;                                         \
        return halide::checked(#op[0], x, y, operator op(WrittenExpr(x, at), y), at);              \
    }                                                                                              \
    /* An Expr itself would as well be the second operand of Tessera's own operator. */            \
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

// With a C++ bool.
template<std::same_as<bool> Bool>
Expr operator&&(WrittenExpr a, Bool b) {
    return operator&&(std::move(a), b ? const_true() : const_false());
}
template<std::same_as<bool> Bool>
Expr operator&&(Bool a, WrittenExpr b) {
    return operator&&(WrittenExpr(a ? const_true() : const_false(), b.at), b);
}
template<std::same_as<bool> Bool>
Expr operator||(WrittenExpr a, Bool b) {
    return operator||(std::move(a), b ? const_true() : const_false());
}
template<std::same_as<bool> Bool>
Expr operator||(Bool a, WrittenExpr b) {
    return operator||(WrittenExpr(a ? const_true() : const_false(), b.at), b);
}

template<halide::Integer Int>
Expr min(WrittenExpr a, Int b) {
    Expr y = halide::integer_operand(a, halide::as_int(b, a.at), a.at);
    return min(std::move(a), y);
}
template<halide::Integer Int>
Expr max(WrittenExpr a, Int b) {
    Expr y = halide::integer_operand(a, halide::as_int(b, a.at), a.at);
    return max(std::move(a), y);
}
template<halide::Integer Int>
Expr operator==(WrittenExpr a, Int b) {
    Expr y = halide::integer_operand(a, halide::as_int(b, a.at), a.at);
    return operator==(std::move(a), WrittenExpr(y));
}
template<halide::Integer Int>
Expr operator!=(WrittenExpr a, Int b) {
    Expr y = halide::integer_operand(a, halide::as_int(b, a.at), a.at);
    return operator!=(std::move(a), WrittenExpr(y));
}
template<halide::Integer Int>
Expr min(Int a, WrittenExpr b) {
    Expr x = halide::integer_operand(b, halide::as_int(a, b.at), b.at);
    return min(WrittenExpr(x, b.at), b);
}
template<halide::Integer Int>
Expr max(Int a, WrittenExpr b) {
    Expr x = halide::integer_operand(b, halide::as_int(a, b.at), b.at);
    return max(WrittenExpr(x, b.at), b);
}
// A shift by an integer does not take its type from it.
template<halide::Integer Int>
Expr operator<<(WrittenExpr a, Int b) {
    const Location at = a.at;
    return operator<<(std::move(a), Expr(halide::as_int(b, at)));
}
template<halide::Integer Int>
Expr operator>>(WrittenExpr a, Int b) {
    const Location at = a.at;
    return operator>>(std::move(a), Expr(halide::as_int(b, at)));
}

}  // namespace tessera::ir

// Found for Vars, Funcs and the like, too.
namespace tessera {
using ir::operator+;
using ir::operator-;
using ir::operator*;
using ir::operator/;
using ir::operator%;
using ir::operator<;
using ir::operator<=;
using ir::operator>;
using ir::operator>=;
using ir::operator==;
using ir::operator!=;
using ir::operator&;
using ir::operator|;
using ir::operator^;
using ir::operator<<;
using ir::operator>>;
using ir::max;
using ir::min;
}  // namespace tessera
