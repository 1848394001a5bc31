#pragma once
#include "ir/nodes.h"
#include <optional>

// Building expressions with C++ operators. The operands of a binary operator are brought to one
// type first, as `match_types` says; an operand that is undefined, or types that cannot be
// brought together, throw CompileError. Operators on constant integers give constants.
namespace tessera::ir {

// Brings both to one type and one number of lanes. A scalar is broadcast. A constant takes the
// other's type if that can represent it. Between integers the wider type wins; a signed and an
// unsigned one give a signed one of the wider size. An integer and a float give the float's type.
void match_types(Expr &a, Expr &b);

Expr operator+(Expr a, Expr b);
Expr operator-(Expr a, Expr b);
Expr operator*(Expr a, Expr b);
Expr operator/(Expr a, Expr b);  // integers: Euclidean; by zero is zero
Expr operator%(Expr a, Expr b);  // integers: in [0, |b|); floats: a - b * floor(a / b)
Expr operator-(Expr a);
Expr operator==(Expr a, Expr b);
Expr operator!=(Expr a, Expr b);
Expr operator<(Expr a, Expr b);
Expr operator<=(Expr a, Expr b);
Expr operator>(Expr a, Expr b);
Expr operator>=(Expr a, Expr b);
Expr operator&&(Expr a, Expr b);
Expr operator||(Expr a, Expr b);
Expr operator!(Expr a);

inline Expr &operator+=(Expr &a, Expr b) { return a = std::move(a) + std::move(b); }
inline Expr &operator-=(Expr &a, Expr b) { return a = std::move(a) - std::move(b); }
inline Expr &operator*=(Expr &a, Expr b) { return a = std::move(a) * std::move(b); }
inline Expr &operator/=(Expr &a, Expr b) { return a = std::move(a) / std::move(b); }

Expr min(Expr a, Expr b);
Expr max(Expr a, Expr b);
Expr clamp(Expr e, Expr lowest, Expr highest);
Expr select(Expr condition, Expr true_value, Expr false_value);
Expr cast(Type t, Expr e);  // a scalar type is given the lanes of e
template<typename T>
Expr cast(Expr e) {
    return cast(type_of<T>(), std::move(e));
}

Expr make_const(Type t, int64_t value);  // of any type but Handle; a vector is a Broadcast
Expr make_float_const(Type t, double value);
Expr make_zero(Type t);
Expr make_one(Type t);
Expr const_true(int lanes = 1);
Expr const_false(int lanes = 1);
Expr broadcast(Expr e, int lanes);  // e itself for one lane

// The value of a constant integer, through Broadcast; null if it is none (or above int64).
std::optional<int64_t> as_const_int(const Expr &e);
bool is_const(const Expr &e);  // a number, or a Broadcast of one
bool is_const(const Expr &e, int64_t value);
bool is_zero(const Expr &e);
bool is_one(const Expr &e);
bool is_true(const Expr &e);
bool is_false(const Expr &e);
bool is_no_op(const Stmt &s);  // undefined or Evaluate of a constant
bool is_pure(const Expr &e);   // no calls with effects anywhere in it

Expr likely(Expr e);
Expr likely_if_innermost(Expr e);
Expr call(Type t, Intrinsic op, std::vector<Expr> args);
Stmt no_op();
// The Load whose address this intrinsic takes; InternalError if it is no address_of a Load.
const Load &address_taken(const Expr &address_of);

}  // namespace tessera::ir
