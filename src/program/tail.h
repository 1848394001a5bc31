#pragma once
#include "ir/enums.h"

namespace tessera {

// The behaviour of a split at its end, where its factor does not divide the extent.
struct TailTraits {
    bool leaves_out = false;  // tests leave out what is beyond the last value
    bool overlaps = false;    // the last tile ends at the last value, if there is room for a tile
    bool blends = false;      // what need not be computed is read and written back
};

constexpr TailTraits traits_of(TailStrategy tail) {
    switch (tail) {
    case TailStrategy::RoundUp: return {};
    case TailStrategy::GuardWithIf:
    case TailStrategy::Predicate:
    case TailStrategy::PredicateLoads:
    case TailStrategy::PredicateStores: return {.leaves_out = true};
    case TailStrategy::ShiftInwards: return {.overlaps = true};
    case TailStrategy::ShiftInwardsAndBlend: return {.overlaps = true, .blends = true};
    case TailStrategy::RoundUpAndBlend: return {.blends = true};
    case TailStrategy::Auto: return {};  // stands for one of the others
    }
    __builtin_unreachable();
}

}  // namespace tessera
