// The libraries that an app's program is linked with: apps/CMakeLists.txt writes the list of them,
// from the headers that generators have written.
#pragma once

#include "runtime/tessera_runtime.h"

#include <vector>

namespace tessera::apps {

struct Library {
    const char *generator, *params;  // as in a Filter
    int (*argv)(void *const *arguments);
    const tessera_filter_metadata_t *(*metadata)();
};

std::vector<Library> libraries();

}  // namespace tessera::apps
