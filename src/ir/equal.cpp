#include "ir/equal.h"
#include "ir/fields.h"
#include <set>
#include <unordered_map>

namespace tessera::ir {
namespace {

// Compares trees; symbols are the same if they are one, or (renaming) if paired one to one.
class Comparison {
public:
    explicit Comparison(bool renaming) : renaming(renaming) {}

    template<typename Base>
    bool same(const NodeHandle<Base> &a, const NodeHandle<Base> &b) {
        if (!a.defined() || !b.defined()) return a.defined() == b.defined();
        if (a.same_as(b) && !renaming) return true;
        if (a.kind() != b.kind() || (!renaming && a.hash() != b.hash())) return false;
        const bool keep = ++compared > few_nodes && is_worth_keeping(*a.get());
        if (keep && known_equal.contains({a.get(), b.get()})) return true;
        bool result = same_kind(a, b);
        if (result && keep) known_equal.insert({a.get(), b.get()});
        return result;
    }

private:
    // So many are compared again as quickly as they are remembered.
    static constexpr size_t few_nodes = 64;
    // Returns true if it may take longer to compare such nodes again than to remember that they are
    // equal.
    static bool is_worth_keeping(const ExprNode &e) { return e.depth > 2 && e.use_count() > 1; }
    static bool is_worth_keeping(const StmtNode &s) { return s.use_count() > 1; }

    template<typename Base>
    bool same_kind(const NodeHandle<Base> &a, const NodeHandle<Base> &b) {
        switch (a.kind()) {
#define CASE(T)                                                                                    \
    case NodeKind::T:                                                                              \
        if constexpr (std::is_base_of_v<Base, T>) {                                                \
            return same_fields(*static_cast<const T *>(a.get()),                                   \
                               *static_cast<const T *>(b.get()));                                  \
        }                                                                                          \
        break;
            TESSERA_EXPR_NODES(CASE)
            TESSERA_STMT_NODES(CASE)
#undef CASE
        }
        throw InternalError("compared a node of an unknown kind");
    }

    template<typename T>
    bool same_fields(const T &a, const T &b) {
        if constexpr (std::is_base_of_v<ExprNode, T>) {
            if (a.type != b.type) return false;
        }
        auto same_child = [&](const auto &x, const auto &y) { return same(x, y); };
        auto symbols = [&](Symbol x, Symbol y) { return same_symbol(x, y); };
        return T::Fields::apply(
            [&](auto... f) { return (fields::equal(a.*f, b.*f, same_child, symbols) && ...); });
    }

    bool same_symbol(Symbol a, Symbol b) {
        if (!renaming || !a.defined() || !b.defined()) return a == b;
        auto [there, new_there] = forth.try_emplace(a, b);
        auto [here, new_here] = back.try_emplace(b, a);
        return there->second == b && here->second == a;
    }

    bool renaming;
    size_t compared = 0;
    std::unordered_map<Symbol, Symbol> forth, back;
    std::set<std::pair<const void *, const void *>> known_equal;
};

template<typename T>
int compare_fields(const T &a, const T &b) {
    if (int types = fields::compare(a.type, b.type, compare)) return types;
    int first = 0;
    T::Fields::apply([&](auto... f) {
        ((first = first != 0 ? first : fields::compare(a.*f, b.*f, compare)), ...);
    });
    return first;
}

}  // namespace

int compare(const Expr &a, const Expr &b) {
    if (equal(a, b)) return 0;
    if (a.kind() != b.kind()) return a.kind() < b.kind() ? -1 : 1;
    switch (a.kind()) {
#define CASE(T)                                                                                    \
    case NodeKind::T: return compare_fields(*a.as<T>(), *b.as<T>());
        TESSERA_EXPR_NODES(CASE)
#undef CASE
    default: throw InternalError("compared a node of an unknown kind");
    }
}

bool equal(const Expr &a, const Expr &b) {
    if (!a.defined() || !b.defined()) return a.defined() == b.defined();
    if (a.same_as(b)) return true;
    return a.hash() == b.hash() && Comparison(false).same<ExprNode>(a, b);
}
bool equal(const Stmt &a, const Stmt &b) { return Comparison(false).same(a, b); }
bool alpha_equal(const Expr &a, const Expr &b) { return Comparison(true).same<ExprNode>(a, b); }
bool alpha_equal(const Stmt &a, const Stmt &b) { return Comparison(true).same(a, b); }

}  // namespace tessera::ir
