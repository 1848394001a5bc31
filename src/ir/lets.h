#pragma once
#include "ir/nodes.h"

// Lets that stand in front of a value, where parts of it have been given names:
//
//     let n = max(w, 0) in f(n, n)
namespace tessera::ir {

// Returns the value behind them: f(n, n).
inline const Expr &behind_lets(const Expr &e) {
    const Expr *rest = &e;
    while (const auto *let = rest->as<Let>()) rest = &let->body;
    return *rest;
}

// Returns the value behind them as a call of an intrinsic; null if it is none.
inline const IntrinsicCall *intrinsic_behind_lets(const Expr &e) {
    return behind_lets(e).as<IntrinsicCall>();
}

// Returns true if a call begins what is ended behind the body of the LetStmt that it is the value
// of. It has no other place.
inline bool begins_scope(Intrinsic op) {
    return op == Intrinsic::mutex_array_create || op == Intrinsic::device_buffer ||
           op == Intrinsic::device_part || op == Intrinsic::profiler_instance_start;
}

}  // namespace tessera::ir
