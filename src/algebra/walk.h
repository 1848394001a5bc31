#pragma once
#include "ir/fields.h"
#include "ir/nodes.h"
#include "ir/operands.h"
#include <tuple>

// Walks over expressions without recursion, for this component only.
namespace tessera::algebra {

using ir::for_each_operand;

// The expression with every operand replaced by f(operand); itself if none changes.
template<typename F>
ir::Expr map_operands(const ir::Expr &e, F &&f) {
    auto visit = [&](const auto &node) {
        using T = std::decay_t<decltype(node)>;
        auto copies = T::Fields::apply([&](auto... m) { return std::tuple(node.*m...); });
        bool changed = false;
        std::apply([&](auto &...c) { ((changed |= ir::fields::transform(c, f)), ...); }, copies);
        if (!changed) return e;
        return std::apply([](auto &...c) { return ir::Expr(T::make(std::move(c)...)); }, copies);
    };
    switch (e.kind()) {
#define CASE(T)                                                                                    \
    case ir::NodeKind::T: return visit(*e.as<ir::T>());
        TESSERA_EXPR_NODES(CASE)
#undef CASE
    default: throw InternalError("not an expression");
    }
}

// The statement with every expression and statement in it replaced by f(...); itself if none
// changes.
template<typename F>
ir::Stmt map_children(const ir::Stmt &s, F &&f) {
    auto visit = [&](const auto &node) {
        using T = std::decay_t<decltype(node)>;
        auto copies = T::Fields::apply([&](auto... m) { return std::tuple(node.*m...); });
        bool changed = false;
        std::apply([&](auto &...c) { ((changed |= ir::fields::transform(c, f)), ...); }, copies);
        if (!changed) return s;
        return std::apply([](auto &...c) { return ir::Stmt(T::make(std::move(c)...)); }, copies);
    };
    switch (s.kind()) {
#define CASE(T)                                                                                    \
    case ir::NodeKind::T: return visit(*s.as<ir::T>());
        TESSERA_STMT_NODES(CASE)
#undef CASE
    default: throw InternalError("not a statement");
    }
}

// Calls f(symbol) for the variable, buffer or function that this very node names, if any.
template<typename F>
void for_own_symbol(const ir::Expr &e, F &&f) {
    if (const auto *v = e.as<ir::Variable>()) f(v->name);
    if (const auto *b = e.as<ir::BufferProperty>()) f(b->buffer);
    if (const auto *l = e.as<ir::Load>()) f(l->buffer);
    if (const auto *c = e.as<ir::Call>()) f(c->callee);
}

// Calls visit(e) once for every expression below `root` (operands first) for which !done(e).
template<typename Done, typename Visit>
void for_each_postorder(const ir::Expr &root, Done &&done, Visit &&visit) {
    std::vector<const ir::Expr *> stack{&root};
    while (!stack.empty()) {
        const ir::Expr &top = *stack.back();
        if (done(top)) {
            stack.pop_back();
            continue;
        }
        size_t before = stack.size();
        for_each_operand(top, [&](const ir::Expr &operand) {
            if (!done(operand)) stack.push_back(&operand);
        });
        if (stack.size() == before) {
            stack.pop_back();
            visit(top);
        }
    }
}

}  // namespace tessera::algebra
