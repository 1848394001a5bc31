#include "ir/visitor.h"
#include "ir/fields.h"

namespace tessera::ir {
namespace {

// Calls f with every symbol until it returns true.
template<typename F>
class SymbolFinder final : public Visitor {
public:
    explicit SymbolFinder(F f) : Visitor(Visits::LeavesPerUse), f(f) {}
    bool found = false;

private:
    template<typename T>
    void see(const T &node) {
        if (found) return;
        fields::for_each(node, [&](const auto &field) {
            if constexpr (std::is_same_v<std::decay_t<decltype(field)>, Symbol>) {
                found |= f(field);
            }
        });
        if (!found) Visitor::visit(node);
    }
#define VISIT(T)                                                                                   \
    void visit(const T &node) override { see(node); }
    TESSERA_EXPR_NODES(VISIT)
    TESSERA_STMT_NODES(VISIT)
#undef VISIT
    F f;
};

template<typename Root, typename F>
bool finds_symbol(const Root &root, F is_wanted) {
    SymbolFinder finder(is_wanted);
    finder(root);
    return finder.found;
}

template<typename Root>
std::unordered_set<Symbol> all_symbols(const Root &root) {
    std::unordered_set<Symbol> all;
    SymbolFinder finder([&](Symbol s) {
        all.insert(s);
        return false;
    });
    finder(root);
    return all;
}

}  // namespace

#define VISIT(T)                                                                                   \
    void Visitor::visit(const T &node) {                                                           \
        fields::for_each(node, [this](const auto &field) {                                         \
            fields::for_each_child(field, [this](const auto &child) { (*this)(child); });          \
        });                                                                                        \
    }
TESSERA_EXPR_NODES(VISIT)
TESSERA_STMT_NODES(VISIT)
#undef VISIT

bool Visitor::is_seen_again(const Expr &e) {
    if (visits == Visits::PerUse || e->use_count() < 2) return false;
    if (visits == Visits::LeavesPerUse && is_leaf(e.kind())) return false;
    return !seen.insert(e);
}

void Visitor::operator()(const Expr &e) {
    if (!e.defined()) return;
    if (is_seen_again(e)) return;
    switch (e.kind()) {
#define CASE(T)                                                                                    \
    case NodeKind::T: return visit(*e.as<T>());
        TESSERA_EXPR_NODES(CASE)
#undef CASE
    default: throw InternalError("not an expression");
    }
}

void Visitor::operator()(const Stmt &s) {
    if (!s.defined()) return;
    switch (s.kind()) {
#define CASE(T)                                                                                    \
    case NodeKind::T: return visit(*s.as<T>());
        TESSERA_STMT_NODES(CASE)
#undef CASE
    default: throw InternalError("not a statement");
    }
}

namespace {

class NodeCounter final : public Visitor {
public:
    size_t nodes = 0;

private:
#define VISIT(T)                                                                                   \
    void visit(const T &node) override {                                                           \
        nodes++;                                                                                   \
        Visitor::visit(node);                                                                      \
    }
    TESSERA_EXPR_NODES(VISIT)
    TESSERA_STMT_NODES(VISIT)
#undef VISIT
};

}  // namespace

size_t count_nodes(const Stmt &s) {
    NodeCounter counter;
    counter(s);
    return counter.nodes;
}

bool uses_symbol(const Expr &e, Symbol s) {
    return finds_symbol(e, [&](Symbol found) { return found == s; });
}
bool uses_symbol(const Stmt &stmt, Symbol s) {
    return finds_symbol(stmt, [&](Symbol found) { return found == s; });
}
bool loads_from(const Expr &e, Symbol buffer) {
    bool found = false;
    for_each_node(e, [&](const Load &l) { found |= l.buffer == buffer; });
    return found;
}
bool uses_any(const Expr &e, const std::unordered_set<Symbol> &symbols) {
    return finds_symbol(e, [&](Symbol found) { return symbols.contains(found); });
}

std::unordered_set<Symbol> symbols_in(const Expr &e) { return all_symbols(e); }
std::unordered_set<Symbol> symbols_in(const Stmt &s) { return all_symbols(s); }

}  // namespace tessera::ir
