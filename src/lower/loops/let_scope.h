#pragma once
#include "algebra/facts.h"
#include "lower/context.h"
#include <unordered_map>
#include <vector>

namespace tessera::lower {

// What a pass that walks down the IR knows of the names around it: the values of lets, and where
// the loop variables lie. For questions about an expression in terms of what stands further out.
class LetScope {
public:
    void push_let(Symbol name, const ir::Expr &value);
    void pop_let(Symbol name);
    // The loop variable runs over [min, min + extent).
    void push_loop(Symbol name, const ir::Expr &min, const ir::Expr &extent);
    void pop_loop(Symbol name) { facts.intervals.erase(name); }

    // The expression with the values of lets put in, as far as these are of integers. Shares nodes;
    // printing it may take exponential space.
    ir::Expr expand(const ir::Expr &e) const;
    // The value let for a name; undefined if it is bound by something else.
    ir::Expr value_of(Symbol name) const;
    // Where the loop variables lie, and what lets are modulo something.
    const algebra::Facts &known() const;
    // The same, and the ranges of the parameters in `e`, which are checked before anything runs
    // unless the target has no asserts.
    algebra::Facts known_of_parameters(const ir::Expr &e, const Context &context) const;

private:
    std::unordered_map<Symbol, ir::Expr> lets;
    mutable std::unordered_map<Symbol, ir::Expr> expanded;  // of lets, once asked for
    mutable std::vector<Symbol> unaligned;  // lets of which nobody asked yet what they are modulo
    mutable algebra::Facts facts;
};

}  // namespace tessera::lower
