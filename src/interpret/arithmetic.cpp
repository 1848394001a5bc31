#include "interpret/arithmetic.h"
#include "interpret/wide.h"
#include "ir/operators.h"
#include <bit>
#include <cmath>
#include <type_traits>

namespace tessera::interpret {
namespace {

using ir::NodeKind;

// Calls f with the operands as floating-point numbers of the precision that operations of the type
// are done in, and rounds the result to the type.
template<typename F>
Word in_precision(Type t, Word a, Word b, F f) {
    if (t.bits() == 64) return word_of_double(t, f(double_of_word(t, a), double_of_word(t, b)));
    return word_of_double(t, f(float(double_of_word(t, a)), float(double_of_word(t, b))));
}

Word float_arithmetic(NodeKind op, Type t, Word a, Word b) {
    if (op == NodeKind::Min || op == NodeKind::Max) {
        const double x = double_of_word(t, a), y = double_of_word(t, b);
        return std::isnan(y) || (op == NodeKind::Min ? x < y : x > y) ? a : b;
    }
    return in_precision(t, a, b, [op](auto x, auto y) -> decltype(x) {
        switch (op) {
        case NodeKind::Add: return x + y;
        case NodeKind::Sub: return x - y;
        case NodeKind::Mul: return x * y;
        case NodeKind::Div: return x / y;
        case NodeKind::Mod: return x - y * std::floor(x / y);
        default: throw InternalError("not an operation on floats");
        }
    });
}

Word integer_arithmetic(NodeKind op, Type t, Wide x, Wide y) {
    switch (op) {
    case NodeKind::Add: return wrap(t, x + y);
    case NodeKind::Sub: return wrap(t, x - y);
    case NodeKind::Mul: return wrap(t, x * y);
    case NodeKind::Div: return wrap(t, divide(x, y));
    case NodeKind::Mod: return wrap(t, y == 0 ? 0 : x - divide(x, y) * y);
    case NodeKind::Min: return wrap(t, std::min(x, y));
    case NodeKind::Max: return wrap(t, std::max(x, y));
    default: throw InternalError("not an operation on integers");
    }
}

template<typename T>
bool compare(NodeKind op, T x, T y) {
    switch (op) {
    case NodeKind::EQ: return x == y;
    case NodeKind::NE: return x != y;
    case NodeKind::LT: return x < y;
    case NodeKind::LE: return x <= y;
    case NodeKind::GT: return x > y;
    default: return x >= y;
    }
}

// Saturates, which is the largest for what is not a number; shorter integers are the low bits.
Word truncate(Type to, Type from, double value) {
    if (to.bits() < 32) return word_of_int(to, int64_t(truncate(Int(32), from, value)));
    const double largest = ir::largest_that_fits(to, from);
    const double lowest = to.is_int() ? double(to.min_int()) : 0.0;
    value = std::max(value < largest ? value : largest, lowest);
    return to.is_int() ? Word(int64_t(value)) : Word(value);
}

}  // namespace

Word cast_word(Type to, Type from, Word word) {
    if (to == from || to.is_handle() || from.is_handle()) return word;
    if (to.is_bool()) return from.is_float() ? double_of_word(from, word) != 0 : word != 0;
    if (from.is_float()) {
        double value = double_of_word(from, word);
        return to.is_float() ? word_of_double(to, value) : truncate(to, from, value);
    }
    if (!to.is_float()) return word_of_int(to, int64_t(word));
    return word_of_double(to, from.is_int() ? (long double)int64_t(word) : (long double)word);
}

Word binary_word(NodeKind op, Type t, Word a, Word b) {
    if (op == NodeKind::And) return a & b;
    if (op == NodeKind::Or) return a | b;
    bool comparison = op >= NodeKind::EQ && op <= NodeKind::GE;
    if (t.is_float()) {
        if (!comparison) return float_arithmetic(op, t, a, b);
        return compare(op, double_of_word(t, a), double_of_word(t, b));
    }
    if (!comparison) return integer_arithmetic(op, t, wide_of(t, a), wide_of(t, b));
    return t.is_int() ? compare(op, int64_t(a), int64_t(b)) : compare(op, a, b);
}

Word reduce_word(ReduceOp op, Type t, Word a, Word b) {
    switch (op) {
    case ReduceOp::Add: return binary_word(NodeKind::Add, t, a, b);
    case ReduceOp::Mul: return binary_word(NodeKind::Mul, t, a, b);
    case ReduceOp::Min: return binary_word(NodeKind::Min, t, a, b);
    case ReduceOp::Max: return binary_word(NodeKind::Max, t, a, b);
    case ReduceOp::And: return a & b;
    case ReduceOp::Or: return a | b;
    case ReduceOp::SaturatingAdd: {
        Operand operands[] = {{t, a}, {t, b}};
        return intrinsic_word(ir::Intrinsic::saturating_add, t, operands);
    }
    }
    throw InternalError("unknown reduction");
}

}  // namespace tessera::interpret
