#pragma once
#include <string>
#include <vector>

namespace tessera::run {

// The names that a shared library of ELF offers to others. Throws RuntimeError, with the reason
// alone, if the file is none.
std::vector<std::string> symbol_names(const std::string &path);

}  // namespace tessera::run
