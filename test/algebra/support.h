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

// The lanes' values, by the constant folder alone; none if the expression has no value there
// (signed overflow, a load).
std::optional<std::vector<Expr>> evaluate(const Expr &e, Values values);

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
    int64_t largest_constant = 20;

private:
    Expr number(Type t, int depth);
    Expr vector(Type t, int depth);
    Expr condition_of(int lanes, int depth);
    Expr leaf(Type t);
    Random &random;
    Type type;
    std::vector<Expr> vars, others;
};

}  // namespace tessera::algebra::testing
