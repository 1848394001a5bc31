#pragma once
#include "algebra/node_table.h"
#include <unordered_map>

namespace tessera::algebra {

// One object for all expressions that are equal, so that they are compared by address; for this
// component only. It also knows which nodes have effects: those are never interned.
class Interner {
public:
    // The one object that stands for all expressions equal to this.
    ir::Expr intern(const ir::Expr &e);

    // The node, kept alive from now on, has effects.
    void mark_impure(const ir::Expr &e) { impure.emplace(e.get(), e); }
    bool is_pure(const ir::Expr &e) const { return impure.empty() || !impure.count(e.get()); }

private:
    NodeSet interned;
    // The interned form of each node whose operands were not interned yet, so that shared nodes are
    // walked once. The first of each pair keeps the node alive.
    NodeMap<std::pair<ir::Expr, ir::Expr>> interned_as;
    std::unordered_map<const ir::ExprNode *, ir::Expr> impure;  // empty but for a few
};

}  // namespace tessera::algebra
