#pragma once
#include "ir/nodes.h"
#include <climits>
#include <unordered_map>
#include <unordered_set>

namespace tessera::lower {

// Buffers that statements of a kernel access, which their threads share.
class BlockAccesses {
public:
    BlockAccesses() = default;
    // Finds all that a statement, or an expression, reads and writes, but for what it allocates
    // itself.
    explicit BlockAccesses(const ir::Stmt &s);
    explicit BlockAccesses(const ir::Expr &e);
    // Returns the accesses of a part of the first definition of a function, in a production that
    // has this number: parts write an element with one value, so that they do not have to meet.
    static BlockAccesses of_production(const ir::Stmt &s, int production);

    void add(const BlockAccesses &more);
    void add_read(Symbol buffer) { note(buffer, {false}); }
    // These are elements that nobody else writes.
    void add_write_of_own(Symbol buffer) {
        constexpr int everywhere = 1;  // a production that all iterations have in common
        note(buffer, {true, everywhere});
    }
    void clear() { accesses.clear(); }
    // Accesses of buffers are those of others in whose memory they are.
    void rename(const std::unordered_map<Symbol, Symbol> &buffers);
    void remove(const std::unordered_set<Symbol> &buffers);
    // Returns true if one writes a buffer that the other reads or writes: between them, all threads
    // have to meet. `productions`: so many are the same ones; those of higher numbers are not,
    // such as those of two iterations of a loop.
    bool conflicts_with(const BlockAccesses &other, int productions = INT_MAX) const;

private:
    struct Access {
        bool is_written = false;
        int production = 0;  // that alone writes it, and nobody reads it; 0: there is none such
    };
    void note(Symbol buffer, const Access &access);
    std::unordered_map<Symbol, Access> accesses;  // per buffer
};

}  // namespace tessera::lower
