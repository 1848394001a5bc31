#pragma once
#include "algebra/facts.h"
#include <optional>
#include <vector>

namespace tessera::algebra {

// coefficient * atom; the atom is a simplified expression, and no sum itself, but one that may
// wrap.
struct LinearTerm {
    Expr atom;
    int64_t coefficient = 0;

    bool operator==(const LinearTerm &other) const {
        return coefficient == other.coefficient && atom.same_as(other.atom);
    }
};

// The sum of the terms and the constant. Canonical: atoms are distinct and in a fixed order,
// coefficients not zero.
struct LinearForm {
    std::vector<LinearTerm> terms;
    int64_t constant = 0;

    bool is_constant() const { return terms.empty(); }
    bool operator==(const LinearForm &) const = default;
    // The coefficient of the atom; 0 if there is none.
    int64_t coefficient_of(const Expr &atom) const;
};

// The linear form of an integer scalar of 32 or 64 bits, signed. Sums of more than a few dozen
// terms are kept as atoms, so that forms stay small.
LinearForm linear_form(const Expr &e, const Facts &facts = {});

// Returns true if the value may be the sum of numbers that are read, and of which it is not known
// that it fits its type: then nothing follows for it from what it is made of.
bool may_wrap(const Expr &e);

// a + factor * b; none if a coefficient would overflow an int64.
std::optional<LinearForm> add(const LinearForm &a, const LinearForm &b, int64_t factor = 1);
// f with b in place of the atom of its term t.
std::optional<LinearForm> replace(const LinearForm &f, const LinearTerm &t, const LinearForm &b);
std::optional<LinearForm> scale(const LinearForm &a, int64_t factor);
// sum += coefficient * atom; false, and `sum` stays, if a coefficient would overflow an int64.
bool add_term(LinearForm &sum, const Expr &atom, int64_t coefficient);

// The expression of this type for the form: positive terms first, subtraction for negative ones,
// a factor that all terms share taken out. Undefined if a number does not fit the type.
Expr to_expr(const LinearForm &form, Type type);

// The order of atoms in a form: variables first, by age.
bool atom_before(const Expr &a, const Expr &b);

// Returns the congruence of an integer scalar with the largest modulus that is known. Modulus 0:
// the expression is the constant `remainder`, so that `modulus % n == 0` holds for every n.
ir::Alignment alignment_of(const Expr &e, const Facts &facts = {});

}  // namespace tessera::algebra
