#pragma once
#include "algebra/linear_forms.h"
#include "algebra/scoped_facts.h"

namespace tessera::algebra {

// What simplified nodes and forms of them are known to be, by their operands and the facts in
// force; for this component only. Each answer is found once in a scope.
class NodeInfo {
public:
    NodeInfo(Interner &nodes, LinearForms &forms, ScopedFacts &facts)
        : nodes(nodes), forms(forms), facts(facts) {}

    ConstantInterval interval(const Expr &e) { return info(e).interval; }  // over all lanes
    ConstantInterval interval(const LinearForm &f);
    ir::Alignment alignment(const Expr &e) { return info(e).alignment; }
    ir::Alignment alignment(const LinearForm &f);
    Origin origin(const Expr &e) { return info(e).origin; }
    // Returns true if the form may overflow where what it was made of does not. Coordinates and
    // sizes are taken to be far from the ends of their types; what a program reads may be anything.
    bool may_overflow(const LinearForm &f, Type t);
    bool is_stable(const Expr &e);  // no effects, and no stores can change it

    // What is known of a variable that has the value, but for its trend.
    KnownVariable variable_of(const Expr &value);
    // Returns true if the atom is a let whose value is known.
    bool has_value(const Expr &atom) const;
    // The form with the values of lets put in, for a while.
    LinearForm with_values(LinearForm f);

    // Finds out anew about this node.
    void forget(const Expr &e) { infos[e.get()] = Info(); }

private:
    struct Info {
        ConstantInterval interval;
        ir::Alignment alignment;
        Origin origin;
        uint32_t scope = ScopedFacts::no_scope;
    };

    Info info(const Expr &e);
    Info compute_info(const Expr &e);
    Origin compute_origin(const Expr &e);
    const ir::Mod *as_remainder(const Expr &atom);
    // intervals.cpp
    ConstantInterval compute_interval(const Expr &e);
    ConstantInterval interval_of_let(const ir::Let &let);
    ConstantInterval interval_of_call(const ir::IntrinsicCall &c);
    // alignments.cpp
    ir::Alignment compute_alignment(const Expr &e);

    Interner &nodes;
    LinearForms &forms;
    ScopedFacts &facts;
    NodeMap<Info> infos;
    NodeMap<bool> stable;
};

bool is_likely(const Expr &e);
// Returns true if the form is the node itself, as an atom.
bool is_atom(const LinearForm &f, const Expr &e);

}  // namespace tessera::algebra
