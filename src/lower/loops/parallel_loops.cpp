#include "lower/loops/parallel_loops.h"
#include "ir/visitor.h"
#include <algorithm>
#include <unordered_set>

namespace tessera::lower {

using namespace ir;

namespace {

// Returns true if two iterations of the loop may update the same element of the function.
bool may_conflict(const For &loop, Symbol func) {
    if (!traits_of(loop.loop_kind).is_on_threads) return false;
    return loop.origin.func != func || loop.origin.is_reduction;
}

}  // namespace

const For *ParallelLoops::outermost_conflict(const Atomic &node) const {
    size_t first = loops.size();
    std::unordered_set<Symbol> buffers;
    for_each_node(node.body, [&](const Store &s) { buffers.insert(s.buffer); });
    for (Symbol b : buffers) {
        auto found = allocated.find(b);
        first = std::min(first, found == allocated.end() ? 0 : found->second);
    }
    for (size_t i = first; i < loops.size(); i++) {
        if (may_conflict(*loops[i], node.func)) return loops[i];
    }
    return nullptr;
}

}  // namespace tessera::lower
