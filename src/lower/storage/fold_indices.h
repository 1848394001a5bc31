#pragma once
#include "ir/mutator.h"
#include "lower/storage/folds.h"

namespace tessera::lower {

struct FoldedFunc {
    std::vector<Fold> folds;
    bool is_traced = false;
};
using FoldedFuncs = std::unordered_map<Symbol, FoldedFunc>;

// Takes the indices of folded dimensions modulo their factors.
class FoldIndices : public ir::Mutator {
public:
    explicit FoldIndices(FoldedFuncs folded) : folded_funcs(std::move(folded)) {}

protected:
    using Mutator::visit;
    ir::Expr visit(const ir::Call &call) override;
    ir::Stmt visit(const ir::Provide &provide) override;

    const FoldedFuncs folded_funcs;
};

// Returns the folds of a storage when these have been done, too, and those that are still asked
// for.
std::vector<ir::StorageFold> with_folds_done(const std::vector<Fold> &folds,
                                             const ir::StorageFacts &storage);

}  // namespace tessera::lower
