#include "bindings.h"

namespace tessera::python {

void bind_vars(nb::module_ &m) {
    nb::class_<Var> var(
        m, "Var",
        "The name of a dimension of a Func, or of a loop. Vars of one name are the same.");
    var.def(nb::init<>(), "Makes a Var with a name that nobody else has.")
        .def(nb::init<const std::string &>(), "name"_a)
        .def("name", &Var::name)
        .def("same_as", &Var::same_as, "other"_a)
        .def_static("outermost", &Var::outermost, "Returns the loop around all loops of a stage.")
        .def_static("implicit", &Var::implicit, "n"_a,
                    "Returns the n-th dimension that the placeholder _ stands for.")
        .def("is_implicit", [](const Var &v) { return v.is_implicit(); })
        .def("implicit_index", [](const Var &v) { return Var::implicit_index(v); })
        .def("is_placeholder", [](const Var &v) { return v.is_placeholder(); })
        .def("__repr__", [](const Var &v) { return str("Var(\"", v.name(), "\")"); });
    define_operators(var);
    nb::class_<RVar> rvar(
        m, "RVar",
        "A variable of a reduction domain, or the name of a loop made of such variables.");
    rvar.def(
            "__init__",
            [](RVar *r, const std::string &name) {
                name.empty() ? new (r) RVar() : new (r) RVar(name);
            },
            "name"_a = "")
        .def("name", &RVar::name)
        .def("min", &RVar::min)
        .def("extent", &RVar::extent)
        .def("__repr__", [](const RVar &r) { return str("RVar(\"", r.name(), "\")"); });
    define_operators(rvar);
    nb::class_<VarOrRVar>(m, "VarOrRVar", "Either, as the name of a loop.")
        .def(
            "__init__", [](VarOrRVar *v, const LoopVar &loop) { new (v) VarOrRVar(loop.get()); },
            "loop"_a)
        .def("name", &VarOrRVar::name)
        .def_ro("is_rvar", &VarOrRVar::is_rvar)
        .def("__repr__", [](const VarOrRVar &v) { return str("VarOrRVar(\"", v.name(), "\")"); });

    m.attr("_") = nb::cast(_);
    const Var *implicit[] = {&_0, &_1, &_2, &_3, &_4, &_5, &_6, &_7, &_8, &_9};
    for (int i = 0; i < 10; i++) m.attr(str("_", i).c_str()) = nb::cast(*implicit[i]);
}

}  // namespace tessera::python
