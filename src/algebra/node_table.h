#pragma once
#include "ir/equal.h"
#include "ir/node_map.h"
#include <vector>

// Hash tables for the simplifier, which looks into them several times per node; for this component
// only.
namespace tessera::algebra {

using ir::NodeMap;

// One node of each kind of equal nodes.
class NodeSet {
public:
    // The member that is this very node, or else one that is equal; undefined if there is none.
    const ir::Expr *find_same(const ir::Expr &e) const {
        return probe(e, [&](const ir::Expr &o) { return o.same_as(e); });
    }
    const ir::Expr *find_equal(const ir::Expr &e) const {
        return probe(e, [&](const ir::Expr &o) { return o.hash() == e.hash() && equal(o, e); });
    }
    const ir::Expr &insert(const ir::Expr &e) {
        if (slots.size() < 2 * (count + 1)) grow();
        count++;
        return place(e);
    }

private:
    template<typename Same>
    const ir::Expr *probe(const ir::Expr &e, Same &&same) const {
        if (slots.empty()) return nullptr;
        for (size_t i = e.hash() & (slots.size() - 1);; i = (i + 1) & (slots.size() - 1)) {
            if (!slots[i].defined()) return nullptr;
            if (same(slots[i])) return &slots[i];
        }
    }
    const ir::Expr &place(const ir::Expr &e) {
        size_t i = e.hash() & (slots.size() - 1);
        while (slots[i].defined()) i = (i + 1) & (slots.size() - 1);
        return slots[i] = e;
    }
    void grow() {
        std::vector<ir::Expr> old(slots.empty() ? ir::smallest_table : 2 * slots.size());
        old.swap(slots);
        for (const ir::Expr &e : old) {
            if (e.defined()) place(e);
        }
    }
    std::vector<ir::Expr> slots;
    size_t count = 0;
};

}  // namespace tessera::algebra
