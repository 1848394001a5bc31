#include "bindings.h"
#include "docs/language.h"

namespace tessera::python {

void bind_loop_level(nb::module_ &m) {
    nb::class_<LoopLevel> c(m, "LoopLevel", docs::level::class_);
    c.def(nb::init<>(), docs::level::empty)
        .def(
            "__init__",
            [](LoopLevel *l, nb::handle f, const LoopVar &v, int stage) {
                const Here at = here();
                if (nb::isinstance<Stage>(f))
                    new (l) LoopLevel(nb::cast<Stage &>(f), v.get(), at);
                else
                    new (l) LoopLevel(to_func(f), v.get(), stage, at);
            },
            "func"_a, "var"_a, "stage_index"_a = -1, docs::level::init)
        .def_static("inlined", &LoopLevel::inlined, docs::level::inlined)
        .def_static("root", &LoopLevel::root, docs::level::root)
        .def(
            "set", [](LoopLevel &l, const LoopLevel &o) { l.set(o, here()); }, "other"_a,
            docs::level::set)
        .def(
            "lock", [](LoopLevel &l) -> LoopLevel & { return l.lock(here()); }, nb::rv_policy::none,
            docs::level::lock)
        .def("copy", &LoopLevel::copy, docs::level::copy)
        .def("defined", &LoopLevel::defined, docs::level::defined)
        .def("is_at", &LoopLevel::is_at, docs::level::is_at)
        .def(
            "is_inlined", [](const LoopLevel &l) { return l.is_inlined(here()); },
            docs::level::is_inlined)
        .def(
            "is_root", [](const LoopLevel &l) { return l.is_root(here()); }, docs::level::is_root)
        .def("stage", &LoopLevel::stage, docs::level::stage)
        .def(
            "func", [](const LoopLevel &l) { return l.func(here()); }, docs::level::func)
        .def(
            "var",
            [](const LoopLevel &l) -> nb::object {
                return to_python(std::vector<VarOrRVar>{l.var(here())})[0];
            },
            docs::level::var)
        .def("matches", &LoopLevel::matches, "other"_a, docs::level::matches)
        .def(
            "to_string", [](const LoopLevel &l) { return l.to_string(here()); },
            docs::level::to_string)
        .def(
            "__eq__", [](const LoopLevel &a, const LoopLevel &b) { return a == b; },
            nb::is_operator())
        .def("__repr__", [](const LoopLevel &l) { return str("<LoopLevel ", l, ">"); });
    c.attr("__hash__") = nb::none();
}

}  // namespace tessera::python
