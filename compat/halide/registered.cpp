#include "HalideRuntime.h"
#include <cstdio>
#include <cstdlib>

// A file of the type registration hands its function to this, and this to what a program written
// for Halide has in its place. Programs that link with Halide::RunGenMain have another one: weak.
#pragma weak halide_register_argv_and_metadata
extern "C" __attribute__((weak)) void
tessera_register_function(int (*argv)(void *const *args),
                          const halide_filter_metadata_t *(*metadata)(void)) {
    if (!halide_register_argv_and_metadata) {
        std::fprintf(stderr,
                     "%s was registered, but nothing takes it: link with "
                     "Halide::RunGenMain, or define halide_register_argv_and_metadata()\n",
                     metadata()->name);
        std::exit(1);
    }
    halide_register_argv_and_metadata(reinterpret_cast<int (*)(void **)>(argv), metadata(),
                                      nullptr);
}
