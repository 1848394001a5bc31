#pragma once
#include <functional>
#include <string>
#include <tessera.h>
#include <vector>

namespace tessera::bench {

// An operator of networks in one shape, of floats.
struct Operator {
    std::string name, shape;
    double operations = 0;  // products and sums
    std::function<Pipeline()> make;
};

// The operators and shapes by which Ansor was measured (Zheng et al., 2020, section 7.1 and
// appendix C), each for one image and for 16.
std::vector<Operator> operators();

// Layers whose weights are Buffers that the program holds, in the order of files of networks: the
// inputs of each output side by side.
std::vector<Operator> operators_of_constants();

}  // namespace tessera::bench
