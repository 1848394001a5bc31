#pragma once
#include "base/error.h"

namespace tessera {

// `Location at = Here::current()` as a last parameter is the line of the caller.
using Here = std::source_location;

// An index and the line of the caller, for operator[], which takes no second parameter.
struct WrittenIndex {
    WrittenIndex(int64_t value, Location at = Here::current()) : value(value), at(at) {}
    bool is_below(size_t size) const { return value >= 0 && size_t(value) < size; }

    int64_t value;
    Location at;
};

}  // namespace tessera
