#pragma once
#include "ir/nodes.h"
#include <unordered_map>
#include <unordered_set>

namespace tessera::lower {

// Buffers that statements of a kernel access, which their threads share.
class BlockAccesses {
public:
    BlockAccesses() = default;
    // All that a statement, or an expression, reads and writes, but for what it allocates itself
    // and what each thread has for itself (`own`).
    BlockAccesses(const ir::Stmt &s, const std::unordered_set<Symbol> &own);
    BlockAccesses(const ir::Expr &e, const std::unordered_set<Symbol> &own);

    void add(const BlockAccesses &more);
    void clear() { written.clear(); }
    // Returns true if one writes a buffer that the other reads or writes: between them, all threads
    // have to meet.
    bool conflicts_with(const BlockAccesses &other) const;

private:
    void note(Symbol buffer, bool is_store, const std::unordered_set<Symbol> &own);
    std::unordered_map<Symbol, bool> written;  // per buffer; false: it is only read
};

}  // namespace tessera::lower
