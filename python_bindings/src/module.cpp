#include "bindings.h"

// The extension `tessera._tessera`: classes before what has them as defaults.
NB_MODULE(_tessera, m) {
    using namespace tessera::python;
    m.doc() = "Tessera's language and compiler.";
    m.def("_set_package", &set_package);
    m.def("_forget_dialect", &forget_dialect);
    bind_errors(m);
    bind_enums(m);
    bind_types(m);
    bind_target(m);
    bind_expr(m);
    bind_vars(m);
    bind_rdom(m);
    bind_math(m);
    bind_values(m);
    bind_buffer(m);
    bind_buffer_memory(m);
    bind_params(m);
    bind_handlers(m);
    bind_callable(m);
    bind_streams(m);
    bind_xla(m);
    bind_cache(m);
    bind_search(m);
    bind_pipeline(m);
    bind_modules(m);
    bind_loop_level(m);
    bind_mapping(m);
    bind_stage(m);
    bind_func_refs(m);
    bind_extern(m);
    bind_func(m);
    bind_reductions(m);
    bind_boundary_conditions(m);
    bind_generator(m);
    bind_library(m);
    bind_notebook(m);
    explain_arguments(m);
    m.def("_no_leak_warnings", [] { nb::set_leak_warnings(false); });
}
