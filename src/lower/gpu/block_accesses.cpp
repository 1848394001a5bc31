#include "lower/gpu/block_accesses.h"
#include "ir/visitor.h"
#include <algorithm>

namespace tessera::lower {

using namespace ir;

BlockAccesses::BlockAccesses(const Stmt &s) {
    for_each_node(s, [&](const Load &l) { note(l.buffer, false); });
    for_each_node(s, [&](const Store &st) { note(st.buffer, true); });
    for_each_node(s, [&](const Allocate &a) { written.erase(a.buffer); });
}

BlockAccesses::BlockAccesses(const Expr &e) {
    for_each_node(e, [&](const Load &l) { note(l.buffer, false); });
}

void BlockAccesses::add(const BlockAccesses &more) {
    for (const auto &[buffer, is_written] : more.written) written[buffer] |= is_written;
}

void BlockAccesses::rename(const std::unordered_map<Symbol, Symbol> &buffers) {
    for (const auto &[buffer, memory] : buffers) {
        const auto found = written.find(buffer);
        if (found == written.end()) continue;
        const bool is_written = found->second;
        written.erase(found);
        written[memory] |= is_written;
    }
}

void BlockAccesses::remove(const std::unordered_set<Symbol> &buffers) {
    for (Symbol b : buffers) written.erase(b);
}

bool BlockAccesses::conflicts_with(const BlockAccesses &other) const {
    return std::ranges::any_of(other.written, [&](const auto &o) {
        const auto found = written.find(o.first);
        return found != written.end() && (found->second || o.second);
    });
}

}  // namespace tessera::lower
