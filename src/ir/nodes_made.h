#pragma once
#include <cstdint>

namespace tessera::ir {

// Returns how many nodes this thread has made so far. Most of what compiling does makes nodes, so
// that tests see by this how its work grows, which unlike a time is the same in each run.
uint64_t nodes_made();

}  // namespace tessera::ir
