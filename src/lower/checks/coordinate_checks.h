#pragma once
#include "ir/nodes.h"
#include <string>
#include <unordered_map>
#include <vector>

namespace tessera::lower {

// Asserts that coordinates of 32 bits are enough for the regions that a pipeline needs. Looked at
// are products of more than 16 times a coordinate of an argument, as in f(x * 1000000), and those
// of two variables; the others fit where arguments have less than 2^26 elements along a dimension.
//
//     let f.x.max = g.x.max * 1000000 + 3   ->
//     assert -2^30 <= int64(g.x.max) * 1000000 <= 2^30, tessera_error_coordinates_too_large(...)
class CoordinateChecks {
public:
    // An end of a region. Where it may use a variable that is bound to another, that comes first.
    void add(const std::string &name, const ir::Expr &end);
    void bind(Symbol name, const ir::Expr &end);
    std::vector<ir::Stmt> asserts;

private:
    double scale(const ir::Expr &e);
    double compute_scale(const ir::Expr &e);
    double scale_of_product(const ir::Mul &product);

    std::string current;  // end that is looked at
    // How many times as large as a coordinate of an argument, roughly: a sum counts as its largest
    // term.
    std::unordered_map<const ir::ExprNode *, double> scales;
    std::vector<ir::Expr> alive;  // whose addresses are keys
    std::unordered_map<Symbol, double> variable_scales;
};

}  // namespace tessera::lower
