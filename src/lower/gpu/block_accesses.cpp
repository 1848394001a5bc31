#include "lower/gpu/block_accesses.h"
#include "ir/visitor.h"
#include <algorithm>

namespace tessera::lower {

using namespace ir;

BlockAccesses::BlockAccesses(const Stmt &s) {
    for_each_node(s, [&](const Load &l) { note(l.buffer, {false}); });
    for_each_node(s, [&](const Store &st) { note(st.buffer, {true}); });
    for_each_node(s, [&](const Allocate &a) { accesses.erase(a.buffer); });
}

BlockAccesses::BlockAccesses(const Expr &e) {
    for_each_node(e, [&](const Load &l) { note(l.buffer, {false}); });
}

BlockAccesses BlockAccesses::of_production(const Stmt &s, int production) {
    BlockAccesses all(s);
    std::unordered_set<Symbol> read;
    for_each_node(s, [&](const Load &l) { read.insert(l.buffer); });
    for (auto &[buffer, access] : all.accesses) {
        if (access.is_written && !read.contains(buffer)) access.production = production;
    }
    return all;
}

void BlockAccesses::note(Symbol buffer, const Access &access) {
    const auto [before, is_new] = accesses.try_emplace(buffer, access);
    if (is_new) return;
    before->second.is_written |= access.is_written;
    if (before->second.production != access.production) before->second.production = 0;
}

void BlockAccesses::add(const BlockAccesses &more) {
    for (const auto &[buffer, access] : more.accesses) note(buffer, access);
}

void BlockAccesses::rename(const std::unordered_map<Symbol, Symbol> &buffers) {
    for (const auto &[buffer, memory] : buffers) {
        const auto found = accesses.find(buffer);
        if (found == accesses.end()) continue;
        const Access access = found->second;
        accesses.erase(found);
        note(memory, access);
    }
}

void BlockAccesses::remove(const std::unordered_set<Symbol> &buffers) {
    for (Symbol b : buffers) accesses.erase(b);
}

bool BlockAccesses::conflicts_with(const BlockAccesses &other, int productions) const {
    return std::ranges::any_of(other.accesses, [&](const auto &o) {
        const auto found = accesses.find(o.first);
        if (found == accesses.end()) return false;
        const Access &a = found->second, &b = o.second;
        const bool is_same = a.production == b.production && a.production <= productions;
        return (a.is_written || b.is_written) && !(a.production > 0 && is_same);
    });
}

}  // namespace tessera::lower
