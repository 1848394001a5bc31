#pragma once
#include "base/target.h"
#include <string>

namespace tessera::codegen {

// What LLVM calls the machine. Both take a target with all implied features.
std::string x86_feature_string(const Target &target);
std::string x86_tuning(const Target &target);

}  // namespace tessera::codegen
