#pragma once
#include <ostream>
#include <string>

// This file has what tessera-measure does; it knows nothing of the compiler.
namespace tessera::autoscheduler {

struct BundleOptions {
    std::string folder;  // with manifest.json
    // Records are appended to it, and what it has is not measured again; "-": they are printed
    // instead of lines for people, before them one that says what the reference takes.
    std::string log;
    double seconds = 0;  // that a candidate may take; 0: as the bundle says
};

// Measures the candidates of a bundle (`generator --tune --export`), and prints a line for each.
// Throws RuntimeError if the bundle cannot be read, or its reference cannot be run.
void run_bundle(const BundleOptions &options, std::ostream &out);

}  // namespace tessera::autoscheduler
