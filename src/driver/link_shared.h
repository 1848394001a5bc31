#pragma once
#include "base/target.h"
#include <string>

namespace tessera::driver {

// Links a static library or an object for this target into a shared library, by a C compiler of the
// system: the one that the environment variable CC names, or else cc, gcc or clang, or for another
// machine the cross compiler of gcc. Throws RuntimeError that says what is missing, or what the
// compiler says.
void link_shared(const std::string &library, const std::string &output, const Target &target);

}  // namespace tessera::driver
