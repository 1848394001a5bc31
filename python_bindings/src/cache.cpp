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
}

}  // namespace tessera::python
