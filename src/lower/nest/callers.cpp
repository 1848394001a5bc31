#include "lower/nest/callers.h"
#include <algorithm>

namespace tessera::lower {

int InsertionPoint::fixed() const {
    // All that one call runs is one place.
    const int first = owner ? owner->loops_in_call() : 0;
    return std::max(loop, first);
}

const std::vector<Caller> &Callers::of(Symbol callee) const {
    static const std::vector<Caller> none;
    auto found = callers.find(callee);
    return found == callers.end() ? none : found->second;
}

void Callers::merge(Callers &&other) {
    if (other.callers.size() > callers.size()) callers.swap(other.callers);
    for (auto &[callee, theirs] : other.callers) {
        std::vector<Caller> &ours = callers[callee];
        ours.insert(ours.end(), theirs.begin(), theirs.end());
    }
}

}  // namespace tessera::lower
