#pragma once
#include "function.h"
#include <ostream>

namespace tessera::run {

// Name, target and arguments of a function, for people.
void describe(std::ostream &out, const Function &f);

}  // namespace tessera::run
