#include "peers/libraries/loops.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tessera::bench {

namespace {

#include "peers/libraries/loops.inc"

}  // namespace

const Loops &fast_math_loops() { return all; }

}  // namespace tessera::bench
