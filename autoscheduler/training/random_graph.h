#pragma once
#include "autoscheduler/training/pipelines.h"
#include "autoscheduler/training/random.h"

namespace tessera::autoscheduler::training {

// Two to ten stages over an image of 0.1 to 4 million points, of which each reads one or two before
// it.
Sample random_graph(Random &random);

}  // namespace tessera::autoscheduler::training
