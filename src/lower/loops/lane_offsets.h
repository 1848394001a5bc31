#pragma once
#include "algebra/facts.h"
#include <optional>
#include <vector>

namespace tessera::lower {

// An index vector as a scalar, and what each lane adds to it.
struct LaneOffsets {
    ir::Expr base;
    std::vector<int64_t> offsets;

    int64_t least() const;
    int64_t greatest() const;
    // Whether lane i adds first + i * stride.
    bool is_ramp(int64_t &stride) const;
};

// None if the offsets are not constants. Divisions and modulos count where the alignment of the
// base is known.
std::optional<LaneOffsets> lane_offsets(const ir::Expr &index, const algebra::Facts &facts);

}  // namespace tessera::lower
