#pragma once
#include "ir/fields.h"
#include "ir/nodes.h"

namespace tessera::ir {

// Calls f(child) for every operand of an expression, in their order.
template<typename F>
void for_each_operand(const Expr &e, F &&f) {
    auto visit = [&](const auto &node) {
        fields::for_each(node, [&](const auto &field) { fields::for_each_child(field, f); });
    };
    switch (e.kind()) {
#define CASE(T)                                                                                    \
    case NodeKind::T: return visit(*e.as<T>());
        TESSERA_EXPR_NODES(CASE)
#undef CASE
    default: return;
    }
}

}  // namespace tessera::ir
