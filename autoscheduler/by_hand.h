#pragma once
#include "program/steps.h"
#include <set>

namespace tessera::autoscheduler {

// Holds what follows from the directives of a user who has scheduled a part of the pipeline.
struct ByHand {
    // Functions that stay as they are: those that the user has scheduled, those whose loops others
    // are computed or stored in, and those that have to stay within such loops, since they read
    // what is computed there.
    std::set<Symbol> fixed;
    // Others that have to be stored somewhere, for directives about their storage.
    std::set<Symbol> stored;
    // Places those functions that need loops and have no place yet: in the innermost of the loops
    // that they have to be within, or at the root.
    std::vector<program::Step> places;
};

// Completes the program with the user's schedule alone:
//     f.compute_at(g, x)      ->      f and g are fixed, g.compute_root()
// Levels that cannot exist are left as they are: lowering refuses them.
ByHand complete_by_hand(const program::ScheduledProgram &scheduled);

}  // namespace tessera::autoscheduler
