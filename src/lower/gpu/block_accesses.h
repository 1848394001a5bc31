#pragma once
#include "ir/nodes.h"
#include <unordered_map>
#include <unordered_set>

namespace tessera::lower {

// Buffers that statements of a kernel access, which their threads share.
class BlockAccesses {
public:
    BlockAccesses() = default;
    // All that a statement, or an expression, reads and writes, but for what it allocates itself.
    explicit BlockAccesses(const ir::Stmt &s);
    explicit BlockAccesses(const ir::Expr &e);

    void add(const BlockAccesses &more);
    void clear() { written.clear(); }
    // Accesses of buffers are those of others in whose memory they are.
    void rename(const std::unordered_map<Symbol, Symbol> &buffers);
    void remove(const std::unordered_set<Symbol> &buffers);
    // Returns true if one writes a buffer that the other reads or writes: between them, all threads
    // have to meet.
    bool conflicts_with(const BlockAccesses &other) const;

private:
    void note(Symbol buffer, bool is_store) { written[buffer] |= is_store; }
    std::unordered_map<Symbol, bool> written;  // per buffer; false: it is only read
};

}  // namespace tessera::lower
