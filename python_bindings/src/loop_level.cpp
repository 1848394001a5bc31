#include "bindings.h"

namespace tessera::python {

void bind_loop_level(nb::module_ &m) {
    nb::class_<LoopLevel> c(m, "LoopLevel",
                            "A place in the loops of a pipeline, which may be given to directives "
                            "first and set later.");
    c.def(nb::init<>(), "Makes a level that is not set yet.")
        .def(
            "__init__",
            [](LoopLevel *l, nb::handle f, const LoopVar &v, int stage) {
                const Location at = here();
                if (nb::isinstance<Stage>(f))
                    new (l) LoopLevel(nb::cast<Stage &>(f), v.get(), at);
                else
                    new (l) LoopLevel(to_func(f), v.get(), stage, at);
            },
            "func"_a, "var"_a, "stage_index"_a = -1,
            "Is the body of a loop of a Func (of all its stages, or of one), or of a Stage.")
        .def_static("inlined", &LoopLevel::inlined, "Returns the level that is no place.")
        .def_static("root", &LoopLevel::root, "Returns the level outside of all loops.")
        .def(
            "set", [](LoopLevel &l, const LoopLevel &o) { l.set(o, here()); }, "other"_a,
            "Lets all copies of this level be what the other one is now.")
        .def(
            "lock", [](LoopLevel &l) -> LoopLevel & { return l.lock(here()); }, nb::rv_policy::none,
            "Lets later set() be refused.")
        .def("copy", &LoopLevel::copy, "Returns a level of its own at the same place.")
        .def("defined", &LoopLevel::defined)
        .def("is_at", &LoopLevel::is_at)
        .def("is_inlined", [](const LoopLevel &l) { return l.is_inlined(here()); })
        .def("is_root", [](const LoopLevel &l) { return l.is_root(here()); })
        .def("stage", &LoopLevel::stage)
        .def("func", [](const LoopLevel &l) { return l.func(here()); })
        .def("var", [](const LoopLevel &l) { return to_python({l.var(here())})[0]; })
        .def("matches", &LoopLevel::matches, "other"_a, "Returns True for the same place.")
        .def("to_string", [](const LoopLevel &l) { return l.to_string(here()); })
        .def(
            "__eq__", [](const LoopLevel &a, const LoopLevel &b) { return a == b; },
            nb::is_operator())
        .def("__repr__", [](const LoopLevel &l) { return str("<LoopLevel ", l, ">"); });
    c.attr("__hash__") = nb::none();
}

}  // namespace tessera::python
