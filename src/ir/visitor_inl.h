#pragma once
#include "ir/match.h"
#include "ir/visitor.h"

namespace tessera::ir {

template<typename F>
class NodeCollector final : public Visitor {
    using Wanted = typename CaseOf<F>::Node;

public:
    explicit NodeCollector(F &f)
        : Visitor(is_leaf(Wanted::node_kind) ? Visits::Once : Visits::LeavesPerUse), f(f) {}

private:
    template<typename T>
    void see(const T &node) {
        if constexpr (std::is_same_v<T, Wanted>) f(node);
        Visitor::visit(node);
    }
#define VISIT(T)                                                                                   \
    void visit(const T &node) override { see(node); }
    TESSERA_EXPR_NODES(VISIT)
    TESSERA_STMT_NODES(VISIT)
#undef VISIT
    F &f;
};

template<typename Root, typename F>
void for_each_node(const Root &root, F f) {
    NodeCollector<F> collector(f);
    collector(root);
}

}  // namespace tessera::ir
