#pragma once
#include "ir/type.h"
#include <string>
#include <vector>

// Names of C++ functions as linkers know them, after the Itanium C++ ABI.
namespace tessera::ir {

// "ns1::ns2::f" in parts: {"ns1", "ns2", "f"}.
std::vector<std::string> parts_of_name(const std::string &qualified);

// A parameter's type as the ABI encodes it, without substitutions.
std::string cpp_scalar(Type t);                                   // of C's type; handles: void *
inline constexpr const char *cpp_buffer = "P16tessera_buffer_t";  // tessera_buffer_t *
inline constexpr const char *cpp_argv = "PKPv";                   // void *const *

//     {"ns::f", {"P16tessera_buffer_t", "f"}}   ->   "_ZN2ns1fEP16tessera_buffer_tf"
std::string mangled_name(const std::string &qualified, const std::vector<std::string> &parameters);

}  // namespace tessera::ir
