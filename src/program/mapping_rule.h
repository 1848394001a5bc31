#pragma once
#include <cstdint>

namespace tessera::program {

// Says which mappings are listed.
enum class MappingRule : uint8_t {
    // All that compute the definition. The loops on one of the instruction's are used by what
    // stands for the same operands, and no element is written by two elements of the instruction's
    // result.
    Right,
    // Of these, the mappings that AMOS lists: each mapped loop has a place in a mapping of one loop
    // for each of the instruction's in which no argument of a call has two of the mapped loops.
    Subscripts,
};

}  // namespace tessera::program
