#pragma once
#include "program/function.h"
#include <optional>

namespace tessera::lower {

// Says how updates of a function walk over one of its dimensions: in order, so that a point is made
// of those before it, and of none after it.
//
//     m(x, k) = 0;  m(x, r) = max(m(x, r - 1), s(x, r))
//
// What has been computed up to some point can then be continued from there, in place of all of it
// being computed again: a window of the function slides along the dimension.
struct Scan {
    ir::Expr first;  // the first point that the updates read or write
};

// Returns the scan of the function along dimension d; nothing if it is none. It is one if
// - it is stored outside of where it is computed, by no other thread, with no bound along d;
// - each update either works on each point of the dimension by itself, or writes at a variable of
//   its reduction, the loop over which is serial and not split, and reads the function only there
//   or a constant number of points before;
// - only the last update reads points before its own, which are then final, and its variable is the
//   outermost one of its reduction.
std::optional<Scan> scan_along(const program::FunctionContents &f, int d);

// Returns the dimension along which a version of an update is a scan over this variable of its
// reduction, of which only the values within the region are run then; nothing if there is none.
std::optional<int> scanned_dimension(const program::FunctionContents &f,
                                     const program::Definition &version, Symbol r);

}  // namespace tessera::lower
