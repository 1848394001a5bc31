#pragma once
#include "base/target.h"
#include <string>
#include <vector>

namespace tessera::codegen {

// What LLVM calls the machine. All of these take a target with all implied features.
std::string x86_feature_string(const Target &target);
std::string x86_tuning(const Target &target);

// The bits of tessera_cpu_feature_t that say whether a machine has the target's instructions.
// CompileError if the runtime has none for one of them.
uint64_t x86_runtime_features(const Target &target);

// What LLVM calls the instructions that the target may use and the host does not have.
std::vector<std::string> x86_features_beyond(const Target &target, const Target &host);

}  // namespace tessera::codegen
