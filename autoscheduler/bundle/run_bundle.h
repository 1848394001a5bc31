#pragma once
#include <ostream>
#include <string>

// This file has what tessera-measure does; it knows nothing of the compiler.
namespace tessera::autoscheduler {

struct BundleOptions {
    std::string folder;         // with manifest.json
    std::string log;            // records are appended to it; what it has is not measured again
    double seconds = 20;        // that a candidate may take
    double run_seconds = 0.15;  // that it is run again and again
};

// Measures the candidates of a bundle (`generator --tune --export`), and prints a line for each.
// Throws RuntimeError if the bundle cannot be read, or its reference cannot be run.
void run_bundle(const BundleOptions &options, std::ostream &out);

}  // namespace tessera::autoscheduler
