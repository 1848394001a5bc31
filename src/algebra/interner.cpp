#include "algebra/interner.h"
#include "algebra/walk.h"

namespace tessera::algebra {

using namespace ir;

Expr Interner::intern(const Expr &e) {
    if (const Expr *found = interned.find_same(e)) return *found;
    bool ready = true;
    for_each_operand(e, [&](const Expr &operand) { ready = ready && interned.find_same(operand); });
    // Equal trees have equal operands, which are the same objects when both are interned.
    auto known = [&](const Expr &node) {
        const Expr *found = interned.find_equal(node);
        return found ? *found : interned.insert(node);
    };
    if (ready) return known(e);
    if (const auto *before = interned_as.find(e.get())) return before->second;
    Expr result = known(map_operands(e, [&](const Expr &operand) { return intern(operand); }));
    interned_as[e.get()] = {e, result};
    return result;
}

}  // namespace tessera::algebra
