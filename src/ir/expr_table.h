#pragma once
#include "ir/expr.h"
#include <unordered_map>

namespace tessera::ir {

// The results of a recursive walk by expression: a shared one is looked at once. Keeps the
// expressions alive, so that no other node comes to the place of one.
template<typename Value>
class ExprTable {
public:
    // Returns the stored result for the expression, or else that of compute(), which may call
    // get().
    template<typename Compute>
    const Value &get(const Expr &e, Compute &&compute) {
        auto [found, is_new] = entries.try_emplace(e.get());
        Entry &entry = found->second;  // stays where it is when others come
        if (is_new) {
            entry.expr = e;
            entry.value = compute();
        }
        return entry.value;
    }

private:
    struct Entry {
        Expr expr;
        Value value{};
    };
    std::unordered_map<const ExprNode *, Entry> entries;
};

}  // namespace tessera::ir
