#pragma once
#include "ir/nodes.h"

namespace tessera::algebra {

// A statement that is nothing but lets around one store.
struct SimpleStore {
    explicit SimpleStore(ir::Stmt s);
    // Its value, index and predicate (if it has one), with the lets around each.
    std::vector<ir::Expr> roots() const;

    ir::Stmt whole;                         // what the others point into
    std::vector<const ir::LetStmt *> lets;  // outermost first
    const ir::Store *store = nullptr;       // null if it is another statement
};

// The stores that follow one another from the first of these statements on, but no more than 64:
// what they share is nested, and looked for from each.
std::vector<SimpleStore> stores_from(const std::vector<ir::Stmt> &stmts, size_t first);

// Returns true if there are several, without effects, that read nothing that one of them writes.
// Buffers of different names are different memory.
bool may_share(const std::vector<SimpleStore> &stores);

// The stores, with a let for what several of them compute, before the first one that uses it:
//
//     f[0] = x * y; f[1] = x * y + z * z; f[2] = z * z
//     ->  let t = x * y; f[0] = t; let u = z * z; f[1] = t + u; f[2] = u
ir::Stmt share(const std::vector<SimpleStore> &stores);

}  // namespace tessera::algebra
