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

    // Equal to the node modulo 2^32 (or 2^64): sums wrap.
    const LinearForm &of(const Expr &e);
    // The form that is the node, whatever it is, as an atom.
    const LinearForm &as_atom(const Expr &e);

private:
    LinearForm compute(const Expr &e);
    // None: the node is an atom.
    std::optional<LinearForm> compute_sum(const Expr &e);
    std::optional<LinearForm> compute_broadcast(const ir::Broadcast &b);
    std::optional<LinearForm> compute_ramp(const ir::Ramp &r);

    Interner &nodes;
    NodeMap<std::unique_ptr<LinearForm>> forms, atoms;
};

// Returns true for the types whose sums are worked on as linear forms.
inline bool is_exact(Type t) { return t.is_int() && t.bits() >= 32; }
// Returns true if the form is short and its numbers fit the type, so that it can be written as an
// expression.
bool is_representable(const LinearForm &f, Type t);

}  // namespace tessera::algebra
