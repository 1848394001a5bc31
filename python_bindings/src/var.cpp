#include "bindings.h"
#include "docs/language.h"

namespace tessera::python {

void bind_vars(nb::module_ &m) {
    nb::class_<Var> var(m, "Var", docs::var::class_);
    var.def(nb::init<>(), docs::var::unnamed)
        .def(nb::init<const std::string &>(), "name"_a, docs::var::named)
        .def("name", &Var::name, docs::var::name)
        .def("same_as", &Var::same_as, "other"_a, docs::var::same_as)
        .def_static("outermost", &Var::outermost, docs::var::outermost)
        .def_static("implicit", &Var::implicit, "n"_a, docs::var::implicit)
        .def(
            "is_implicit", [](const Var &v) { return v.is_implicit(); }, docs::var::is_implicit)
        .def(
            "implicit_index", [](const Var &v) { return Var::implicit_index(v); },
            docs::var::implicit_index)
        .def(
            "is_placeholder", [](const Var &v) { return v.is_placeholder(); },
            docs::var::is_placeholder)
        .def("__repr__", [](const Var &v) { return str("Var(\"", v.name(), "\")"); });
    define_operators(var);
    nb::class_<RVar> rvar(m, "RVar", docs::rvar::class_);
    rvar.def(
            "__init__",
            [](RVar *r, const std::string &name) {
                name.empty() ? new (r) RVar() : new (r) RVar(name);
            },
            "name"_a = "")
        .def("name", &RVar::name, docs::rvar::name)
        .def("min", &RVar::min, docs::rvar::min)
        .def("extent", &RVar::extent, docs::rvar::extent)
        .def("__repr__", [](const RVar &r) { return str("RVar(\"", r.name(), "\")"); });
    define_operators(rvar);
    nb::class_<VarOrRVar>(m, "VarOrRVar", docs::var_or_rvar::class_)
        .def(
            "__init__", [](VarOrRVar *v, const LoopVar &loop) { new (v) VarOrRVar(loop.get()); },
            "loop"_a)
        .def("name", &VarOrRVar::name, docs::var_or_rvar::name)
        .def_ro("is_rvar", &VarOrRVar::is_rvar, docs::var_or_rvar::is_rvar)
        .def("__repr__", [](const VarOrRVar &v) { return str("VarOrRVar(\"", v.name(), "\")"); });

    m.attr("_") = nb::cast(_);
    const Var *implicit[] = {&_0, &_1, &_2, &_3, &_4, &_5, &_6, &_7, &_8, &_9};
    for (int i = 0; i < 10; i++) m.attr(str("_", i).c_str()) = nb::cast(*implicit[i]);
}

}  // namespace tessera::python
