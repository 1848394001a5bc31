#include "bindings.h"
#include "docs/running.h"
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
        docs::cache::clear_cache);
    m.def(
        "set_cache_limit",
        [](size_t programs, size_t bytes) {
            nb::gil_scoped_release no_gil;
            driver::set_cache_limits(programs, bytes);
        },
        "programs"_a = size_t(1000), "bytes"_a = size_t(512) << 20, docs::cache::set_cache_limit);
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
        docs::cache::cache_info);
    m.def("keep_on_disk", &driver::keep_on_disk, "on"_a, docs::cache::keep_on_disk);
}

}  // namespace tessera::python
