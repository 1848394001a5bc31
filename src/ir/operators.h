#pragma once
#include "ir/nodes.h"
#include "ir/written_expr.h"
#include <optional>

// Building expressions with C++ operators. The operands of a binary operator are brought to one
// type first, as `match_types` says; an operand that is undefined, or types that cannot be
// brought together, throw CompileError with the line of the first operand. Operators on constant
// integers give constants; signed ones of 32 or 64 bits whose result does not fit throw, too, where
// a user wrote them.
namespace tessera::ir {

// Brings both to one type and one number of lanes. A scalar is broadcast. A constant takes the
// other's type if that can represent it, unless `at` is a line that follows Halide's rules, which
// know no constants. Between integers the wider type wins; a signed and an unsigned one give a
// signed one of the wider size. An integer and a float give the float's type.
void match_types(Expr &a, Expr &b, const Location &at = {});

Expr operator+(WrittenExpr a, Expr b);
Expr operator-(WrittenExpr a, Expr b);
Expr operator*(WrittenExpr a, Expr b);
Expr operator/(WrittenExpr a, Expr b);  // integers: Euclidean; by zero is zero
Expr operator%(WrittenExpr a, Expr b);  // integers: in [0, |b|); floats: a - b * floor(a / b)
Expr operator-(WrittenExpr a);
Expr operator==(WrittenExpr a, WrittenExpr b);  // alike: C++ also tries them the other way round
Expr operator!=(WrittenExpr a, WrittenExpr b);
Expr operator<(WrittenExpr a, Expr b);
Expr operator<=(WrittenExpr a, Expr b);
Expr operator>(WrittenExpr a, Expr b);
Expr operator>=(WrittenExpr a, Expr b);
Expr operator&&(WrittenExpr a, Expr b);
Expr operator||(WrittenExpr a, Expr b);
Expr operator!(WrittenExpr a);

// In Halide's dialect the second operand is cast to the type of the first.
Expr &operator+=(Expr &a, WrittenExpr b);
Expr &operator-=(Expr &a, WrittenExpr b);
Expr &operator*=(Expr &a, WrittenExpr b);
Expr &operator/=(Expr &a, WrittenExpr b);

Expr min(Expr a, Expr b, Location at = std::source_location::current());
Expr max(Expr a, Expr b, Location at = std::source_location::current());
Expr clamp(Expr e, Expr lowest, Expr highest, Location at = std::source_location::current());
Expr select(Expr condition, Expr true_value, Expr false_value,
            Location at = std::source_location::current());
// A scalar type is given the lanes of e; a scalar is broadcast to the lanes of the type.
Expr cast(Type t, Expr e, Location at = std::source_location::current());
template<typename T>
Expr cast(Expr e, Location at = std::source_location::current()) {
    return cast(type_of<T>(), std::move(e), at);
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
// Returns true if a cast to the type leaves the value as it is, as far as one can tell: false only
// for a constant that an integer type cannot hold.
bool may_hold(Type t, const Expr &value);
Expr int32_variable(Symbol name);
bool is_const(const Expr &e, int64_t value);
bool is_zero(const Expr &e);
bool is_one(const Expr &e);
bool is_true(const Expr &e);
bool is_false(const Expr &e);
bool is_no_op(const Stmt &s);  // undefined or Evaluate of a constant
bool is_pure(const Expr &e);   // no calls with effects anywhere in it
bool is_strict_float(const Expr &e);
// Returns true if a product and a sum in the expression may become one instruction unless it is
// strict.
bool may_be_contracted(const Expr &e);
// The operand as a strict_float, if that makes a difference.
Expr as_strict_float(Expr e);
// The largest number of a floating-point type that an integer type holds: what a cast gives for
// everything above it. Numbers of 16 bits are cast as those of 32 are.
double largest_that_fits(Type integer, Type floating);

Expr likely(Expr e);
Expr likely_if_innermost(Expr e);
Expr call(Type t, Intrinsic op, std::vector<Expr> args);
Stmt no_op();
// The Load whose address this intrinsic takes; InternalError if it is no address_of a Load.
const Load &address_taken(const Expr &address_of);

}  // namespace tessera::ir
