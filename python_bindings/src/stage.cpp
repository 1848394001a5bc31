#include "schedule.h"

namespace tessera::python {

void bind_stage(nb::module_ &m) {
    nb::class_<EvictionKey>(m, "EvictionKey", "The key of a memoized result.")
        .def(
            "__init__",
            [](EvictionKey *k, std::optional<ExprLike> key) {
                new (k) EvictionKey(key ? key->get() : Expr());
            },
            "key"_a = nb::none());
    nb::class_<GPUOrder>(m, "GPUOrder", "An order of the blocks of a kernel.")
        .def_ro("rows", &GPUOrder::rows);
    m.def(
        "grouped", [](const ExprLike &rows) { return grouped(rows.get()); }, "rows"_a,
        "Returns the order of blocks in groups of so many rows, column by column in each.");
    nb::class_<Stage> c(m, "Stage", "One definition of a Func, to be scheduled.");
    c.def("name", &Stage::name)
        .def(
            "split_vars", [](const Stage &s) { return to_python(s.split_vars()); },
            "Returns the loops as they are now, innermost first.")
        .def("dump_argument_list", &Stage::dump_argument_list)
        .def(
            "rfactor",
            [](Stage &s, nb::handle preserved, std::optional<Var> v) {
                const Location at = here();
                if (v) return s.rfactor(nb::cast<RVar>(preserved), *v, at);
                std::vector<std::pair<RVar, Var>> pairs;
                for (nb::handle p : preserved)
                    pairs.emplace_back(nb::cast<RVar>(p[0]), to_var(p[1]));
                return s.rfactor(pairs, at);
            },
            "preserved"_a, "var"_a = nb::none(),
            "Returns a new Func that computes an associative update separately for each value of "
            "these variables.")
        .def(
            "copy_input",
            [](Stage &s, nb::handle buffer) { return s.copy_input(to_fetched(buffer), here()); },
            "buffer"_a)
        .def("__repr__", [](const Stage &s) { return str("<Stage ", s.name(), ">"); });
    define_directives(c);
}

}  // namespace tessera::python
