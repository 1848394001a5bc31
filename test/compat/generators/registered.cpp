#include "HalideRuntime.h"
#include <cstdio>
#include <cstring>

// A program with a registry of its own, filled before main().
static int functions = 0;
static bool shown = false, mixed = false;

extern "C" void halide_register_argv_and_metadata(int (*argv)(void **),
                                                  const halide_filter_metadata_t *metadata,
                                                  const char *const *extra) {
    if (argv && !extra) functions++;
    shown |= std::strcmp(metadata->name, "shown") == 0 && metadata->num_arguments == 2;
    mixed |= std::strcmp(metadata->name, "mix") == 0;
}

int main() {
    if (functions != 2 || !shown || !mixed) {
        std::printf("registered: %d functions\n", functions);
        return 1;
    }
    return 0;
}
