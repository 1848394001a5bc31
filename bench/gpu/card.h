#pragma once

#include <string>

namespace tessera::bench {

// The GPU that pipelines run on, and the CUDA version of its driver: "NVIDIA H100 80GB HBM3, driver
// for CUDA 13.0". Figures say nothing without it. Empty if there is none.
std::string name_of_card();

}  // namespace tessera::bench
