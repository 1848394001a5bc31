#pragma once
#include "ir/enums.h"

// What a split does at its end, by kinds of tail strategies.
namespace tessera::lower {

// Tests leave out what is beyond the last value.
inline bool is_guard(TailStrategy t) {
    return t == TailStrategy::GuardWithIf || t == TailStrategy::Predicate ||
           t == TailStrategy::PredicateLoads || t == TailStrategy::PredicateStores;
}

// The last tile ends at the last value, if one fits, and overlaps with the one before it.
inline bool is_shift(TailStrategy t) {
    return t == TailStrategy::ShiftInwards || t == TailStrategy::ShiftInwardsAndBlend;
}

// What need not be computed is read and written back.
inline bool is_blend(TailStrategy t) {
    return t == TailStrategy::ShiftInwardsAndBlend || t == TailStrategy::RoundUpAndBlend;
}

}  // namespace tessera::lower
