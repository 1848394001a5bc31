#pragma once
#include "plan.h"

// Making terms whose values are known to be harmless: no signed overflow of 32 bits and more of
// coordinates, no float that leaves its range, no decision that depends on how a float is rounded.
namespace tessera::fuzz {

double epsilon_of(Type t);
double largest(Type t);  // that a value is allowed to grow to
double smallest(Type t);
// Magnitude of the integers of a wide input.
uint64_t widest_input(Type t);

Term number(Type t, double value);
Term coordinate(int d);
Term reduction_variable(int domain, int d, const Domain &box);
// a op b of one type; operands are made small first where the result would be too large.
Term arithmetic(Op op, Term a, Term b);
Term compare(Op op, Term a, Term b);        // operands must be exact
Term apply(Op op, std::vector<Term> args);  // functions
Term cast_to(Type t, Term a);
// A term of the same type with a magnitude of at most `limit`.
Term limited(Term a, double limit);
// An int32 that is within [low, high], for an index.
Term index_within(Term a, int low, int high);
Term reduce(Op op, int domain, int points, Term body);
Term select(Term condition, Term a, Term b);

}  // namespace tessera::fuzz
