#pragma once
#include "driver/loaded_runtime.h"
#include <span>
#include <string>
#include <vector>

namespace tessera::driver {

// A function of a library that was compiled ahead of time.
class LoadedFunction {
public:
    LoadedFunction(const tessera_filter_metadata_t &metadata, int (*argv)(void *const *),
                   const LoadedRuntime &runtime);

    std::string name() const { return metadata->name; }
    std::string target() const { return metadata->target; }
    // Describes what a caller passes: not the context, which some functions take first.
    std::span<const tessera_filter_argument_t> arguments() const;
    // `args`: pointers to scalars, and tessera_buffer_t. The context is that of a live CallContext.
    // Returns 0 or the runtime's error code.
    int call(JITUserContext *context, std::span<void *const> args) const;

    bool uses_devices = false;  // may have kernels for a GPU

private:
    const tessera_filter_metadata_t *metadata;
    int (*argv)(void *const *);
    const LoadedRuntime *runtime;
    bool takes_context;
};

// Loads a library, which stays as long as the process, and returns its functions; a static library
// or an object is linked into a shared one first. Throws RuntimeError.
std::vector<LoadedFunction> load_library(const std::string &path);

}  // namespace tessera::driver
