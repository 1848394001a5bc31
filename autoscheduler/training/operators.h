#pragma once
#include "autoscheduler/training/pipelines.h"
#include "autoscheduler/training/random.h"

namespace tessera::autoscheduler::training {

// A product of matrices, a convolution of any of the usual kinds, a norm, a softmax or a transpose,
// of a random shape of at most some hundred million operations.
Sample random_operator(Random &random);

}  // namespace tessera::autoscheduler::training
