#pragma once
#include "ir/module.h"
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace tessera::lower {

// Returns true for the end of floats that were cast in bounds: it may be the largest integer there
// is.
bool is_float_made_integer(const ir::IntrinsicCall &call);

// Asserts that coordinates of 32 bits are enough for the regions that a pipeline needs. Looked at
// are products of more than 16 times a coordinate of an argument, as in f(x * 1000000), those of
// two variables, sums with a constant beyond 2^30, and all that a scalar argument or a float is a
// part of, which may be any number of its type; for the others it is enough that the outputs'
// coordinates fit what is left: 2^26 where something is 16 times a coordinate.
//
//     let f.x.max = g.x.max * 1000000 + 3   ->
//     assert -2^30 <= int64(g.x.max) * 1000000 <= 2^30, tessera_error_coordinates_too_large(...)
class CoordinateChecks {
public:
    // A scalar argument, between its ends where these are constants.
    void bind_scalar(const ir::Argument &a, const ir::Expr &min, const ir::Expr &max);
    // An end of a region. A variable that it may use is bound first.
    void add(const std::string &name, const ir::Expr &end);
    void bind(Symbol name, const ir::Expr &end);
    // An end that is looked at whatever it is computed from.
    void require(const std::string &name, const ir::Expr &end);
    // A buffer's own coordinates along a dimension; after all ends that use them.
    void check_argument(const ir::Argument &buffer, int d);
    std::vector<ir::Stmt> asserts;

private:
    void check(const ir::Expr &e);
    void check_operand(const ir::Expr &e);
    ir::Expr in_64_bits(const ir::Expr &e);
    double scale(const ir::Expr &e);
    double scale_of_term(const ir::Expr &e);
    double scale_of_operand(const ir::Expr &e);
    double compute_scale(const ir::Expr &e);
    double scale_of_variable(const ir::Variable &v);
    double scale_of_product(const ir::Mul &product);

    std::string current;           // end that is looked at
    double largest_unchecked = 1;  // scale of what is trusted
    // Says roughly how many times as large as a coordinate of an argument each value is: a sum
    // counts as its largest term.
    std::unordered_map<const ir::ExprNode *, double> scales;
    std::unordered_set<const ir::ExprNode *> looked_at;
    std::unordered_map<const ir::ExprNode *, ir::Expr> wide_values;
    std::vector<ir::Expr> alive;         // whose addresses are keys
    std::unordered_set<Symbol> checked;  // that are bound to an end
    std::unordered_map<Symbol, double> variable_scales;
};

}  // namespace tessera::lower
