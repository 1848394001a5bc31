#pragma once
#include "ir/nodes.h"
#include <utility>

// Nodes of two operands by kind, for this component only.
namespace tessera::algebra {

inline bool is_binary(ir::NodeKind op) { return op >= ir::NodeKind::Add && op <= ir::NodeKind::Or; }
inline bool is_comparison(ir::NodeKind op) {
    return op >= ir::NodeKind::EQ && op <= ir::NodeKind::GE;
}

inline ir::Expr make_binary(ir::NodeKind op, const ir::Expr &a, const ir::Expr &b) {
    switch (op) {
#define CASE(T)                                                                                    \
    case ir::NodeKind::T: return ir::T::make(a, b);
        TESSERA_BINARY_NODES(CASE)
#undef CASE
    default: throw InternalError("not a binary operation");
    }
}

inline std::pair<ir::Expr, ir::Expr> binary_operands(const ir::Expr &e) {
    switch (e.kind()) {
#define CASE(T)                                                                                    \
    case ir::NodeKind::T: return {e.as<ir::T>()->a, e.as<ir::T>()->b};
        TESSERA_BINARY_NODES(CASE)
#undef CASE
    default: throw InternalError("not a binary operation");
    }
}

}  // namespace tessera::algebra
