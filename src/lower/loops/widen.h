#pragma once
#include "ir/nodes.h"
#include <unordered_map>
#include <unordered_set>

namespace tessera::lower {

// A loop that becomes lanes: `groups` iterations at once, the lanes of each iteration next to each
// other. Values that do not depend on the loop variable stay as they are.
struct WidenScope {
    int groups = 0;
    // Names whose values differ from iteration to iteration: what stands for them now.
    std::unordered_map<Symbol, ir::Expr> wide;
    // Buffers that are given an innermost dimension, the iteration.
    std::unordered_set<Symbol> per_iteration;
    // True if all iterations run, so that one event may report all.
    bool traces = true;
};

// The expression for all iterations: as many lanes as before if it is the same in all of them, else
// `groups` times as many. Loads happen only for iterations whose lane of the mask (undefined: all)
// is true.
ir::Expr widen(const ir::Expr &e, WidenScope &scope, const ir::Expr &mask);

// The same of the index of an access, which is made of coordinates.
ir::Expr widen_index(const ir::Expr &e, WidenScope &scope, const ir::Expr &mask);

// e for all iterations even if it is the same: `before` is the expression that e was widened from.
ir::Expr all_groups(const ir::Expr &e, const ir::Expr &before, int groups);

// The index into a buffer that has an innermost dimension more, the iteration.
ir::Expr index_per_iteration(const ir::Expr &wide_index, int groups);

// Returns true if an expression may be widened: it has no effects, and handles in it are all the
// same.
bool can_widen(const ir::Expr &e, const WidenScope &scope);

// Returns for a call of tessera_trace the event of all iterations, with a lane for each; the call
// itself if it is the same in all of them.
ir::Expr widen_trace(const ir::IntrinsicCall &call, WidenScope &scope, const ir::Expr &mask);
// Returns true if it is such a call, for a load or a store, and its operands may be widened.
bool can_widen_trace(const ir::IntrinsicCall &call, const WidenScope &scope);

// The names that stand for lets made from the scalar parts of ramps, added to `lets`.
ir::Expr name_parts(const ir::Expr &wide, Symbol name,
                    std::vector<std::pair<Symbol, ir::Expr>> &lets);

}  // namespace tessera::lower
