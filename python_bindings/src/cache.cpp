#include "bindings.h"
#include "driver/compile.h"

namespace tessera::python {

// The compiled pipelines that are kept for whoever asks for an equal one.
void bind_cache(nb::module_ &m) {
    m.def(
        "clear_cache",
        [] {
            nb::gil_scoped_release no_gil;
            driver::clear_cache();
        },
        "Forgets the pipelines that have been compiled; what is in use stays. The same pipeline is "
        "compiled again when it is next realized.");
    m.def(
        "set_cache_limit",
        [](size_t programs, size_t bytes) {
            nb::gil_scoped_release no_gil;
            driver::set_cache_limits(programs, bytes);
        },
        "programs"_a = size_t(1000), "bytes"_a = size_t(512) << 20,
        "Keeps at most so many compiled pipelines, and of at most so many bytes together, but "
        "always the last one: those that were used last.");
    m.def(
        "cache_info",
        [] {
            const driver::CacheCounts counts = driver::cache_counts();
            nb::dict d;
            d["programs"] = counts.programs;
            d["bytes"] = counts.bytes;
            d["compiled"] = counts.compiled;
            d["found"] = counts.found;
            d["found_on_disk"] = counts.found_on_disk;
            return d;
        },
        "Returns how many compiled pipelines are kept, of how many bytes, and how many of those "
        "that were asked for have been compiled, found in memory and found on disk.");
    m.def(
        "keep_on_disk", &driver::keep_on_disk, "on"_a,
        "Says whether compiled pipelines are kept on disk for later processes; in Python they are, "
        "unless the variable TESSERA_CACHE_DIR is empty. Returns what was said before.");
}

}  // namespace tessera::python
