#pragma once
#include "ir/nodes.h"
#include <unordered_map>
#include <vector>

namespace tessera::lower {

// Follows the parallel loops that surround a place, and where storage was allocated among them.
class ParallelLoops {
public:
    void push(const ir::For &loop) { loops.push_back(&loop); }
    void pop() { loops.pop_back(); }
    void allocate(Symbol buffer) { allocated[buffer] = loops.size(); }
    void release(Symbol buffer) { allocated.erase(buffer); }

    // The outermost loop around whose iterations may meet in an update of the function; null: none.
    const ir::For *outermost_conflict(const ir::Atomic &node) const;

private:
    std::vector<const ir::For *> loops;
    std::unordered_map<Symbol, size_t> allocated;  // how many loops are around the allocation
};

}  // namespace tessera::lower
