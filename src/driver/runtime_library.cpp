#include "driver/runtime_library.h"
#include "base/error.h"

// See cmake/runtime_libraries.cmake.
extern "C" {
extern const char tessera_runtime_x86_64_begin[], tessera_runtime_x86_64_end[];
extern const char tessera_runtime_aarch64_begin[], tessera_runtime_aarch64_end[];
}

namespace tessera::driver {

std::span<const MachineRuntime> machine_runtimes() {
    static const MachineRuntime all[] = {
        {"x86-64-linux", {tessera_runtime_x86_64_begin, tessera_runtime_x86_64_end}},
        {"arm-64-linux", {tessera_runtime_aarch64_begin, tessera_runtime_aarch64_end}},
    };
    return all;
}

std::string runtime_library(const Target &target, std::span<const MachineRuntime> runtimes) {
    for (const MachineRuntime &runtime : runtimes) {
        Target plain(runtime.target);
        bool same = target.arch == plain.arch && target.bits == plain.bits && target.os == plain.os;
        if (same && !runtime.library.empty()) return std::string(runtime.library);
    }
    throw CompileError(str("this compiler was built without a runtime for ", target.to_string(),
                           ": add no_runtime to the target, and compile the sources of "
                           "src/runtime with a C++ compiler for that machine"));
}

std::string runtime_for(const Target &target) {
    return target.has_feature(Target::NoRuntime) ? std::string() : runtime_library(target);
}

}  // namespace tessera::driver
