#include "HalideRuntime.h"
#include <cstdio>
#include <cstring>

// A program with a registry of its own, filled before main().
static int functions = 0;
static const halide_filter_metadata_t *found = nullptr;

extern "C" void halide_register_argv_and_metadata(int (*argv)(void **),
                                                  const halide_filter_metadata_t *metadata,
                                                  const char *const *extra) {
    if (argv && !extra) functions++;
    found = metadata;
}

int main() {
    if (functions != 1 || !found || std::strcmp(found->name, "shown") != 0 ||
        found->num_arguments != 2) {
        std::printf("registered: %d functions\n", functions);
        return 1;
    }
    return 0;
}
