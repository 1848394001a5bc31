#pragma once
#include "lang/callable.h"
#include <map>
#include <string>

namespace tessera {

// Returns the functions of a library that was compiled ahead of time, by their names, as Callables:
// they are called like pipelines that are compiled now, with the same checks and handlers. A static
// library or an object is linked by the system's C compiler first. The library stays loaded as long
// as the process. Throws RuntimeError if the file is none, or cannot be loaded or linked.
std::map<std::string, Callable> load_library(const std::string &path,
                                             Location at = Here::current());
// Links a static library or an object for this machine into a shared library by the system's C
// compiler ($CC, cc, gcc or clang). Throws RuntimeError that says what is missing or wrong.
void link_shared(const std::string &library, const std::string &output,
                 Location at = Here::current());

}  // namespace tessera
