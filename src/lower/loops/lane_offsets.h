#pragma once
#include "lower/loops/let_scope.h"
#include <optional>
#include <vector>

namespace tessera::lower {

// An index vector as a scalar, and what each lane adds to it.
struct LaneOffsets {
    ir::Expr base;
    std::vector<int64_t> offsets;

    int64_t least() const;
    int64_t greatest() const;
    // Returns true if lane i adds first + i * stride.
    bool is_ramp(int64_t &stride) const;
};

// Every so many lanes of a vector, from the first of these on.
struct EveryLane {
    int first = 0, step = 1;
};

// None if the offsets are not constants. Sees through lets of vectors. Divisions and modulos count
// where the alignment of the base is known, or all lanes have the same remainder.
std::optional<LaneOffsets> lane_offsets(const ir::Expr &index, const LetScope &scope,
                                        EveryLane wanted = {});

}  // namespace tessera::lower
