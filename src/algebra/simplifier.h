#pragma once
#include "algebra/rewriter.h"

namespace tessera::algebra {

// The engine behind simplify, prove, bounds and solve; for this component only. Walks expressions
// bottom-up, once per node, and lets the rewriter make the simplified nodes. The caller reports
// what encloses an expression (lets, conditions, loops) to the knowledge, or to `learn` and
// `bind_let`.
class Simplifier {
public:
    // `effort`: how many steps a single decision about an inequality may take; all that are made
    // for one expression may take as many as 128 of them. The facts must live as long as the
    // simplifier, which looks at those about a variable when it meets one. In a single expression
    // scalar arguments are taken for coordinates, as those of regions are.
    explicit Simplifier(const Facts &facts = no_facts, int effort = usual_effort,
                        Arguments arguments = Arguments::AreCoordinates);
    explicit Simplifier(const Facts &&, int = 0, Arguments = Arguments::AreCoordinates) = delete;
    static constexpr int usual_effort = 32;

    Expr operator()(const Expr &e);  // memoised
    // Returns true while an expression is simplified, in whose midst others have other facts.
    bool is_at_work() const { return nesting > 0; }

    // The condition (simplified) holds in this scope of the knowledge.
    void learn(const Expr &condition);
    // Binds or replaces the symbol of a let for what is simplified next, and returns the let that
    // is to stand around it; undefined: none. A ramp is put in place, so that an access is seen to
    // be dense or strided; of one whose base is not cheap, the base has a let of its own.
    struct Bound {
        Symbol name;
        Expr value;
    };
    Bound bind_let(Symbol name, const Expr &value);

    Knowledge known;
    Rewriter rewriter;

private:
    static const Facts no_facts;
    struct Memo {
        Expr before, after;
        uint32_t scope = ScopedFacts::no_scope;
    };

    const Memo *find_done(const Expr &e);  // null: it is still to be simplified
    Expr simplify_all(const Expr &root);
    Expr visit(const Expr &e);
    Expr visit_children(const Expr &e);
    Expr visit_variable(const Expr &e);
    Expr visit_let(const Expr &e);
    Expr visit_conditional(const ir::IntrinsicCall &c);
    void look_up(Symbol s);

    const Facts &given;
    NodeMap<Memo> memo;
    int conditionals = 0;
    int nesting = 0;  // of calls of operator()
};

// Returns true if the value is so simple that it may stand wherever its name does.
bool is_cheap(const Expr &value);

}  // namespace tessera::algebra
