#pragma once
#include "algebra/interval.h"
#include <vector>

namespace tessera::lower {

// An interval per dimension.
using Box = std::vector<algebra::Interval>;

// The region that one stage computes: [min, max] per dimension of its function, as far as it is
// required (a split may make it compute more).
struct StageRegion {
    std::vector<ir::Expr> min, max;
};

// The symbols that name the ends of such a region.
struct RegionSymbols {
    std::vector<Symbol> min, max;
};

// A let to be put around something.
struct Binding {
    Symbol symbol;
    ir::Expr value;
};

// The union, dimension by dimension; an empty box is nothing yet.
void include(Box &box, const Box &more);

}  // namespace tessera::lower
