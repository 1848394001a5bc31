#pragma once
#include "base/error.h"

namespace tessera {

// `Location at = Here::current()` as a last parameter is the line of the caller.
using Here = std::source_location;

}  // namespace tessera
