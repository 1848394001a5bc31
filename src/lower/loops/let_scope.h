#pragma once
#include "algebra/facts.h"
#include "lower/context.h"
#include <concepts>
#include <optional>
#include <unordered_map>
#include <vector>

namespace tessera::lower {

// The names around a statement, for a pass that walks down the IR: the values of lets, and where
// the loop variables lie. For questions about an expression in terms of what stands further out.
class LetScope {
public:
    void push_let(Symbol name, const ir::Expr &value);
    void pop_let(Symbol name);
    // The loop variable runs over [min, min + extent).
    void push_loop(Symbol name, const ir::Expr &min, const ir::Expr &extent);
    void pop_loop(Symbol name) { facts.intervals.erase(name); }
    // Returns what f() does while the let, an expression or a statement, or the loop is in the
    // scope.
    template<typename Node, typename F>
    auto within(const Node &node, F f) {
        static constexpr bool is_loop = std::same_as<Node, ir::For>;
        if constexpr (is_loop) {
            push_loop(node.name, node.min, node.extent);
        } else {
            push_let(node.name, node.value);
        }
        const struct Pop {
            LetScope &scope;
            Symbol name;
            ~Pop() { is_loop ? scope.pop_loop(name) : scope.pop_let(name); }
        } pop{*this, node.name};
        return f();
    }
    // Adds a condition under which the statement is run: conditions of an `if`, of a specialization
    // above all.
    void push_condition(const ir::Expr &condition);
    void pop_condition() { conditions.pop_back(); }

    // The expression with the values of lets put in, its own as well, as far as these are of
    // integers. Shares nodes; printing it may take exponential space.
    ir::Expr expand(const ir::Expr &e) const;
    // The value let for a name; undefined if it is bound by something else.
    ir::Expr value_of(Symbol name) const;
    // The value, or the largest one, of an integer under these conditions; none if none is known,
    // or if there are no conditions.
    std::optional<int64_t> value_by_conditions(const ir::Expr &e) const;
    std::optional<int64_t> upper_bound_by_conditions(const ir::Expr &e) const;
    // Returns the ranges of the loop variables, and what lets are modulo something.
    const algebra::Facts &known() const;
    // The same, and the ranges of the parameters in `e`, which are checked before anything runs
    // unless the target has no asserts.
    algebra::Facts known_of_parameters(const ir::Expr &e, std::span<const ir::Argument> arguments,
                                       const Target &target) const;

private:
    // The expression with the values of lets put in but for properties of buffers, which the
    // algebra knows nothing of.
    ir::Expr expand_names(const ir::Expr &e) const;
    algebra::Facts known_by_conditions() const;

    std::vector<ir::Expr> conditions;  // undefined: it says nothing of coordinates
    mutable std::unordered_map<Symbol, ir::Expr> expanded_by_names;
    std::unordered_map<Symbol, ir::Expr> lets;
    mutable std::unordered_map<Symbol, ir::Expr> expanded;  // of lets, cached
    mutable std::vector<Symbol> unaligned;  // lets whose alignment was not computed yet
    mutable algebra::Facts facts;
};

// The branches of an `if`, each as `f` makes it of it, with its condition in the scope.
template<typename F>
ir::Stmt map_branches(LetScope &scope, const ir::IfThenElse &branch, F f) {
    scope.push_condition(branch.condition);
    ir::Stmt then_case = f(branch.then_case), else_case;
    scope.pop_condition();
    if (branch.else_case.defined()) {
        scope.push_condition(ir::Not::make(branch.condition));
        else_case = f(branch.else_case);
        scope.pop_condition();
    }
    return branch.with<&ir::IfThenElse::then_case, &ir::IfThenElse::else_case>(then_case,
                                                                               else_case);
}

}  // namespace tessera::lower
