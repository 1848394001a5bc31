#pragma once
#include "ir/nodes.h"

// Questions about a value in front of which lets stand that name parts of it:
//
//     let n = max(w, 0) in f(n, n)
namespace tessera::ir {

// Returns the value behind the lets: f(n, n).
inline const Expr &behind_lets(const Expr &e) {
    const Expr *rest = &e;
    while (const auto *let = rest->as<Let>()) rest = &let->body;
    return *rest;
}

// Returns the value behind the lets if it is a call of an intrinsic; null otherwise.
inline const IntrinsicCall *intrinsic_behind_lets(const Expr &e) {
    return behind_lets(e).as<IntrinsicCall>();
}

// Returns true if a call of this intrinsic begins something, such as memory or a profile, that
// lasts until the end of the body of a LetStmt. The call may only be the value of that LetStmt.
inline bool begins_scope(Intrinsic op) {
    return op == Intrinsic::mutex_array_create || op == Intrinsic::device_buffer ||
           op == Intrinsic::device_part || op == Intrinsic::profiler_instance_start;
}

}  // namespace tessera::ir
