#pragma once
#include "algebra/linear_forms.h"
#include "algebra/scoped_facts.h"

namespace tessera::algebra {

// Finds what is known of simplified nodes and their forms, by their operands and the facts in
// force; for this component only. Each answer is found once in a scope.
class NodeInfo {
public:
    NodeInfo(Interner &nodes, LinearForms &forms, ScopedFacts &facts, Arguments arguments)
        : nodes(nodes), forms(forms), facts(facts), arguments(arguments) {}

    ConstantInterval interval(const Expr &e) { return info(e).interval; }  // over all lanes
    ConstantInterval interval(const LinearForm &f);
    ir::Alignment alignment(const Expr &e) { return info(e).alignment; }
    ir::Alignment alignment(const LinearForm &f);
    Origin origin(const Expr &e) { return info(e).origin; }
    // Returns true if sums and products of such values may wrap.
    bool is_data(const Expr &e) { return is_data(origin(e)); }
    // Returns true if the form may overflow where what it was made of does not. Coordinates and
    // sizes are taken to be far from the ends of their types; what a program reads may be anything.
    bool may_overflow(const LinearForm &f, Type t);
    // The form that has the value of the node as a whole number, too, and not only modulo 2^32: of
    // a sum of data that may wrap, the sum as an atom. All but sums and products ask for this one.
    const LinearForm &exact_form(const Expr &e);
    // The form with the value in place of the atom of the term, as a whole number; none if a
    // coefficient would overflow an int64.
    std::optional<LinearForm> substitute(const LinearForm &f, const LinearTerm &t,
                                         const Expr &value) {
        return replace(f, t, exact_form(value));
    }
    bool is_stable(const Expr &e);  // no effects, and no stores can change it

    // Returns what is known of a variable that has the value, but for its trend.
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
    Origin origin_of_operands(const Expr &e);
    // Returns true if arguments, and numbers that no coordinate has, are data.
    bool is_strict() const { return arguments == Arguments::MayBeAnything; }
    bool is_data(const Origin &o) const {
        return o.is_read || (is_strict() && (o.is_passed || o.is_large));
    }
    bool may_exceed(const LinearForm &f, Type t, bool counts_all);
    const ir::Mod *as_remainder(const Expr &atom);
    // intervals.cpp
    ConstantInterval compute_interval(const Expr &e);
    ConstantInterval unless_wrapped(const Expr &e, const ConstantInterval &i);
    ConstantInterval interval_of_let(const ir::Let &let);
    ConstantInterval interval_of_call(const Expr &e, const ir::IntrinsicCall &c);
    // alignments.cpp
    ir::Alignment compute_alignment(const Expr &e);

    Interner &nodes;
    LinearForms &forms;
    ScopedFacts &facts;
    const Arguments arguments;
    NodeMap<Info> infos;
    NodeMap<bool> stable;
};

bool is_likely(const Expr &e);
// Returns true if the form is the node itself, as an atom.
bool is_atom(const LinearForm &f, const Expr &e);

}  // namespace tessera::algebra
