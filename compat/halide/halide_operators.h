#pragma once
#include "ir/printer.h"
#include "lang/operators.h"
#include <concepts>

// Operators of an expression and a C++ integer. Halide takes the integer for one of the
// expression's type and refuses one that this type does not have, as it refuses a sum of constants
// that overflows; Tessera's own operators choose a wider type, and wrap.
namespace tessera::ir {

namespace halide {

// A C++ integer as an operand: what Halide takes for an int.
template<typename T>
concept Integer = std::integral<T> && !std::same_as<T, bool>;

inline Expr integer_operand(const Expr &other, int64_t value, const Location &at) {
    const bool is_int = value == int32_t(value);
    if (!other.defined() || !other.type().is_int_or_uint() || other.type().is_bool()) {
        if (is_int) return Expr(int32_t(value));
        throw CompileError(at, str("the integer ", value, " is no int32; cast it to an Expr of the "
                                   "type that is wanted"));
    }
    const Type t = other.type().element_of();
    if (t.can_represent(value)) return make_const(t, value);
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
        Expr y = halide::integer_operand(Expr(), int64_t(bits), a.at);                             \
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

template<halide::Integer Int>
Expr min(WrittenExpr a, Int b) {
    Expr y = halide::integer_operand(a, int64_t(b), a.at);
    return min(std::move(a), y);
}
template<halide::Integer Int>
Expr max(WrittenExpr a, Int b) {
    Expr y = halide::integer_operand(a, int64_t(b), a.at);
    return max(std::move(a), y);
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
using ir::max;
using ir::min;
}  // namespace tessera
