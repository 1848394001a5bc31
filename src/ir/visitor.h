#pragma once
#include "ir/node_map.h"
#include "ir/nodes.h"
#include <unordered_set>

namespace tessera::ir {

// Walks IR and changes nothing. Override `visit` for the nodes of interest and call the base
// version to go on into the children. A shared expression is walked once, unless Visits::PerUse
// says that what is learnt depends on where it stands. Visits::LeavesPerUse: but for numbers, names
// and strings, quicker looked at again than remembered.
class Visitor {
public:
    enum class Visits { Once, LeavesPerUse, PerUse };
    explicit Visitor(Visits visits = Visits::Once) : visits(visits) {}
    virtual ~Visitor() = default;

    void operator()(const Expr &e);
    void operator()(const Stmt &s);

protected:
#define VISIT(T) virtual void visit(const T &node);
    TESSERA_EXPR_NODES(VISIT)
    TESSERA_STMT_NODES(VISIT)
#undef VISIT

private:
    bool is_seen_again(const Expr &e);

    Visits visits;
    SeenNodes<Expr> seen;  // keeps them alive, so that no other node comes to their place
};

// Calls f(const T &) for every node of the one kind that f takes, shared ones once.
//     for_each_node(s, [&](const Store &store) { ... });
template<typename Root, typename F>
void for_each_node(const Root &root, F f);

// Returns the number of nodes in the tree; shared ones count once.
size_t count_nodes(const Stmt &s);

// Returns true if the tree uses this symbol as a variable, buffer, callee or function.
bool uses_symbol(const Expr &e, Symbol s);
bool uses_symbol(const Stmt &stmt, Symbol s);
bool loads_from(const Expr &e, Symbol buffer);  // true if any Load within reads it
bool uses_any(const Expr &e, const std::unordered_set<Symbol> &symbols);

// All symbols in the tree, of what it uses and of what it binds.
std::unordered_set<Symbol> symbols_in(const Expr &e);
std::unordered_set<Symbol> symbols_in(const Stmt &s);

}  // namespace tessera::ir

#include "ir/visitor_inl.h"
