#pragma once
#include <span>

namespace tessera {

struct RuntimeSymbol {
    const char *name;
    void *address;
};

// Every function that compiled code may call, for a JIT that links it by name. Besides those of
// tessera_runtime.h these are the compiler's own helpers for half precision (__extendhfsf2, ...).
std::span<const RuntimeSymbol> tessera_runtime_symbols();

}  // namespace tessera
