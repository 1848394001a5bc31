#pragma once
#include <cstdint>

namespace tessera::algebra {

// Returns how many nodes have been simplified in this thread so far, by whatever asks for it: tests
// see by this how the work grows, as by ir::nodes_made().
uint64_t nodes_simplified();

}  // namespace tessera::algebra
