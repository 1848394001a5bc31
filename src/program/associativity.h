#pragma once
#include "program/function.h"
#include <optional>

namespace tessera::program {

// An update f(args) = op(f(args), y) whose operator is associative: partial results may be formed
// apart and joined.
struct AssociativeUpdate {
    std::vector<Symbol> xs, ys;    // one per value: what stands for f's old values, and for the new
    std::vector<Expr> operators;   // one per value, in terms of xs and ys
    std::vector<Expr> identities;  // op(identity, y) == y; undefined where there is none
    std::vector<Expr> new_values;  // the ys of this update
    bool commutative = false;

    bool has_identities() const;
};

// Recognizes sums, products, minima and maxima, and, or, bitwise operations, saturating sums of
// unsigned values, the same element by element of a tuple, argmin and argmax (with a tuple of the
// value and its place), and products of complex numbers. Nothing if it finds none of these.
std::optional<AssociativeUpdate> prove_associativity(const FunctionContents &f,
                                                     const Definition &d);

}  // namespace tessera::program
