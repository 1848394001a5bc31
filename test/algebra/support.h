#pragma once
#include "algebra/interval.h"
#include "random.h"
#include <optional>
#include <unordered_map>
#include <vector>

// Random expressions and their values.
namespace tessera::algebra::testing {

using test::Random;
using test::Seeds;

using Values = std::unordered_map<Symbol, Expr>;  // constants

// The tests say what becomes of a sum of int32 or int64 that is no number of its type.
enum class Overflow : uint8_t { HasNoValue, Wraps };

// The lanes' values, by the constant folder, and none if the expression has no value there. The
// value of a load is that of its buffer's symbol.
std::optional<std::vector<Expr>> evaluate(const Expr &e, Values values,
                                          Overflow overflow = Overflow::HasNoValue);

// Any number of the type, most often one near its ends.
Expr extreme_number(Random &random, Type t);
// The variable, as what is read of a buffer of its name.
Expr as_data(const Expr &variable);

// Expressions over the variables a .. f (ints), of some depth.
class ExprMaker {
public:
    ExprMaker(Random &random, Type type);
    Expr make(int depth) { return number(type, depth); }
    Expr condition(int depth);
    // Values for the variables; `spread` around zero.
    Values values(int64_t spread);
    Expr value_of(Type t, int64_t spread);
    const std::vector<Expr> &variables() const { return vars; }

    bool vectors = false;  // some of 4 lanes
    bool lets = false;
    bool casts = false;
    bool data = false;  // what is a variable, but for lets, is read
    int64_t largest_constant = 20;

private:
    Expr number(Type t, int depth);
    Expr vector(Type t, int depth);
    Expr condition_of(int lanes, int depth);
    Expr leaf(Type t);
    Random &random;
    Type type;
    static constexpr size_t inputs = 4;  // the first variables; the others are those of lets
    std::vector<Expr> vars, others;
};

}  // namespace tessera::algebra::testing
