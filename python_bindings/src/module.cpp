#include "bindings.h"

// The extension `tessera._tessera`: classes before what has them as defaults.
NB_MODULE(_tessera, m) {
    using namespace tessera::python;
    m.doc() = "Tessera's language and compiler.";
    m.def("_set_package", &set_package);
    bind_errors(m);
    bind_types(m);
    bind_expr(m);
    bind_functions(m);
    bind_buffer(m);
    bind_params(m);
    bind_search(m);
    bind_pipeline(m);
    bind_func(m);
}
