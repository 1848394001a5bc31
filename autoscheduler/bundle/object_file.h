#pragma once
#include <string>

namespace tessera::autoscheduler {

// Says whether load_object() knows the objects of this processor.
#if defined(__x86_64__)
constexpr bool loads_objects = true;
#else
constexpr bool loads_objects = false;
#endif

// Loads an object that the compiler has written (ELF, position independent) into this process, for
// good, as a linker and dlopen() would, and returns the address of one of its functions. What it
// calls is found in this process. RuntimeError if the file is no such object, lacks the function,
// or calls what is not there.
void *load_object(const std::string &path, const std::string &function);

}  // namespace tessera::autoscheduler
