#pragma once
#include "algebra/interner.h"
#include "algebra/linear.h"
#include <memory>

namespace tessera::algebra {

// The linear form of each simplified node; for this component only. Depends on nothing but the
// node, so it is never forgotten.
class LinearForms {
public:
    explicit LinearForms(Interner &nodes) : nodes(nodes) {}

    const LinearForm &of(const Expr &e);
    // The form with the value in place of the atom of the term; none if a coefficient would
    // overflow an int64.
    std::optional<LinearForm> substitute(const LinearForm &f, const LinearTerm &t,
                                         const Expr &value);

private:
    LinearForm compute(const Expr &e);
    // None: the node is an atom.
    std::optional<LinearForm> compute_sum(const Expr &e);
    std::optional<LinearForm> compute_broadcast(const ir::Broadcast &b);
    std::optional<LinearForm> compute_ramp(const ir::Ramp &r);

    Interner &nodes;
    NodeMap<std::unique_ptr<LinearForm>> forms;
};

// Returns true for the types whose sums are worked on as linear forms.
inline bool is_exact(Type t) { return t.is_int() && t.bits() >= 32; }
// Returns true if the form is short and its numbers fit the type, so that it can be written as an
// expression.
bool is_representable(const LinearForm &f, Type t);

}  // namespace tessera::algebra
