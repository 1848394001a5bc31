#pragma once
#include "ir/nodes.h"
#include <unordered_set>

namespace tessera::lower {

// Storage of a row of lanes, of a few elements with indices that are numbers, may be in registers
// of each lane if all of them can compute it: if what is stored there is stored outside of loops
// over lanes, from values that are the same for all lanes, or by updates that the lanes do
// together.
//
// `together`: such updates. `privates`: storage of which each lane has its own.
bool may_be_copies_of_lanes(const ir::Allocate &a,
                            const std::unordered_set<const ir::Atomic *> &together,
                            const std::unordered_set<Symbol> &privates);

}  // namespace tessera::lower
