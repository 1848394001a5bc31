#pragma once
#include "function.h"
#include "options.h"
#include <functional>

namespace tessera::run {

using FindSymbol = std::function<void *(const std::string &)>;

// Does what the options say, with one of the functions. `find`: symbols of the library that has
// them; null if it is linked with the program. The exit code; throws RuntimeError.
int run_functions(const std::vector<Function> &functions, const Options &options,
                  const FindSymbol &find);

// Calls f; what it throws is printed as a sentence, and the exit code is 1.
int with_errors(const std::function<int()> &f);

}  // namespace tessera::run
