#pragma once
#include "lower/storage/production_path.h"
#include <string>

namespace tessera::lower {

// The most elements that are kept of a dimension which nobody asks to be folded.
constexpr int64_t largest_fold = 1024;

// Says how the storage of a function is folded along one dimension: an element is kept at its
// coordinate modulo `factor`.
struct Fold {
    size_t dim = 0;
    ir::Expr factor;
    ir::Expr check;    // must hold where it is computed; undefined: proved
    size_t place = 0;  // in the path, of the loop that walks over the dimension
    Symbol loop;
    ir::Expr needed;  // by one iteration of that loop
    // For a fold that the user writes:
    Symbol var = {};
    Location written = {};
};

// Returns true if the user has said how to fold any dimension of the storage.
bool asks_for_fold(const ir::StorageFacts &storage);
// Returns the fold of this dimension, by the user or by the pass that folds it; null if there is
// none.
const ir::StorageFold *fold_of(const ir::StorageFacts &storage, size_t dim);

// The folds that are right for one production. From the outermost loop in, as far as an iteration
// leaves nothing to the next one that a loop further in might overwrite, and on to the loops that
// walk over what the user wants to be folded.
std::vector<Fold> find_folds(const Production &production);

// Returns true if the production slides along the dimension and begins at one point whatever the
// iteration, as a scan does: then its region says nothing of what is still read. See fold_scans.h.
bool goes_on_from_its_beginning(const Production &production, size_t dim);

// Says why the storage is not folded along this dimension, and what would be right.
std::string why_not_folded(const Production &production, size_t dim);

}  // namespace tessera::lower
