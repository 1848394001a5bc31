#pragma once
#include "ir/module.h"
#include <span>
#include <unordered_set>

namespace tessera::codegen {

// The coordinates of a function: indices into buffers, the bounds of loops, and the lets that they
// are made of, unless data is read for them or a number in them is too large.
//
// Coordinates are small, so their sums do not overflow, in whatever order they are taken. Data may
// be anything: a sum that fits as it was written may overflow on its way in another order, which
// is right as long as nobody takes it for granted that it does not.
class Coordinates {
public:
    Coordinates() = default;
    // `functions`: a pipeline and the functions that it invokes, which stand behind it.
    explicit Coordinates(std::span<const ir::LoweredFunction> functions);

    bool contains(Symbol let) const { return lets.contains(let); }
    // Returns true if an index, or the bound of a loop, is made of coordinates alone.
    bool are(const ir::Expr &index) const;

private:
    std::unordered_set<Symbol> lets;
    std::unordered_set<Symbol> data;  // lets whose values are made of what is read, or large
};

}  // namespace tessera::codegen
