#include "lower/storage/fold_indices.h"
#include "ir/operators.h"
#include "lower/traced_access.h"
#include <algorithm>

namespace tessera::lower {

using namespace ir;

static std::vector<Expr> folded(std::vector<Expr> args, const FoldedFunc &func) {
    for (const Fold &fold : func.folds) {
        Expr &arg = args[fold.dim];
        const Expr index = arg % fold.factor;
        arg = func.is_traced ? stored_at(arg, index) : index;
    }
    return args;
}

Expr FoldIndices::visit(const Call &call) {
    Expr mutated = Mutator::visit(call);
    auto found = folded_funcs.find(call.callee);
    if (found == folded_funcs.end()) return mutated;
    const Call &c = *mutated.as<Call>();
    return c.with<&Call::args>(folded(c.args, found->second));
}

Stmt FoldIndices::visit(const Provide &provide) {
    Stmt mutated = Mutator::visit(provide);
    auto found = folded_funcs.find(provide.func);
    if (found == folded_funcs.end()) return mutated;
    const Provide &p = *mutated.as<Provide>();
    return p.with<&Provide::args>(folded(p.args, found->second));
}

std::vector<StorageFold> with_folds_done(const std::vector<Fold> &folds,
                                         const StorageFacts &storage) {
    std::vector<StorageFold> all = storage.folds;
    for (const Fold &fold : folds) {
        auto wanted = std::ranges::find(all, int(fold.dim), &StorageFold::dim);
        if (wanted == all.end()) wanted = all.insert(all.end(), {int(fold.dim), true, {}, {}, {}});
        wanted->is_done = true;
    }
    std::ranges::sort(all, {}, &StorageFold::dim);
    return all;
}

}  // namespace tessera::lower
