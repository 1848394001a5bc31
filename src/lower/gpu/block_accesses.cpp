#include "lower/gpu/block_accesses.h"
#include "ir/visitor.h"
#include <algorithm>

namespace tessera::lower {

using namespace ir;

BlockAccesses::BlockAccesses(const Stmt &s, const std::unordered_set<Symbol> &own) {
    std::unordered_set<Symbol> not_shared = own;
    for_each_node(s, [&](const Allocate &a) { not_shared.insert(a.buffer); });
    for_each_node(s, [&](const Load &l) { note(l.buffer, false, not_shared); });
    for_each_node(s, [&](const Store &st) { note(st.buffer, true, not_shared); });
}

BlockAccesses::BlockAccesses(const Expr &e, const std::unordered_set<Symbol> &own) {
    for_each_node(e, [&](const Load &l) { note(l.buffer, false, own); });
}

void BlockAccesses::note(Symbol buffer, bool is_store, const std::unordered_set<Symbol> &own) {
    if (!own.contains(buffer)) written[buffer] |= is_store;
}

void BlockAccesses::add(const BlockAccesses &more) {
    for (const auto &[buffer, is_written] : more.written) written[buffer] |= is_written;
}

bool BlockAccesses::conflicts_with(const BlockAccesses &other) const {
    return std::ranges::any_of(other.written, [&](const auto &o) {
        const auto found = written.find(o.first);
        return found != written.end() && (found->second || o.second);
    });
}

}  // namespace tessera::lower
