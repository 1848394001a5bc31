#include "autoscheduler/training/pipelines.h"
#include "autoscheduler/training/operators.h"
#include "autoscheduler/training/random_graph.h"

namespace tessera::autoscheduler::training {

Sample random_sample(uint64_t seed) {
    Random random(seed);
    return random.below(2) ? random_graph(random) : random_operator(random);
}

}  // namespace tessera::autoscheduler::training
