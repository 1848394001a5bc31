#pragma once
#include <cstdint>
#include <string>
#include <tessera.h>

namespace tessera::autoscheduler::training {

struct Sample {
    std::string kind;  // "graph", or the name of an operator
    Pipeline pipeline;
};

// A pipeline to learn from, with estimates of its sizes; the same for the same seed. Half of them
// are graphs of stencils, maps, changes of resolution, gathers, scans and reductions over images;
// the others are operators of neural networks and linear algebra of random shapes.
Sample random_sample(uint64_t seed);

}  // namespace tessera::autoscheduler::training
