#include "docs/stage.h"
#include "schedule.h"

namespace tessera::python {

void bind_stage(nb::module_ &m) {
    nb::class_<EvictionKey>(m, "EvictionKey", docs::stage::eviction_key)
        .def(
            "__init__",
            [](EvictionKey *k, std::optional<ExprLike> key) {
                new (k) EvictionKey(key ? key->get() : Expr());
            },
            "key"_a = nb::none());
    nb::class_<GPUOrder>(m, "GPUOrder", docs::stage::gpu_order)
        .def_ro("rows", &GPUOrder::rows, docs::stage::gpu_order_rows);
    m.def(
        "grouped", [](const ExprLike &rows) { return grouped(rows.get()); }, "rows"_a,
        docs::stage::grouped);
    m.def("hilbert", &hilbert, docs::stage::hilbert);
    nb::class_<Stage> c(m, "Stage", docs::stage::class_);
    c.def("name", &Stage::name, docs::stage::name)
        .def(
            "split_vars", [](const Stage &s) { return to_python(s.split_vars()); },
            docs::stage::split_vars)
        .def("dump_argument_list", &Stage::dump_argument_list, docs::stage::dump_argument_list)
        .def(
            "rfactor",
            [](Stage &s, nb::handle preserved, std::optional<Var> v) {
                const Here at = here();
                if (v) return s.rfactor(nb::cast<RVar>(preserved), *v, at);
                std::vector<std::pair<RVar, Var>> pairs;
                for (nb::handle p : preserved)
                    pairs.emplace_back(nb::cast<RVar>(p[0]), to_var(p[1]));
                return s.rfactor(pairs, at);
            },
            "preserved"_a, "var"_a = nb::none(), docs::stage::rfactor)
        .def(
            "split_k",
            [](Stage &s, const RVar &r, const Var &part, const ExprLike &parts) {
                return s.split_k(r, part, parts, here());
            },
            "rvar"_a, "part"_a, "parts"_a, docs::stage::split_k)
        .def(
            "copy_input",
            [](Stage &s, nb::handle buffer) { return s.copy_input(to_fetched(buffer), here()); },
            "buffer"_a, docs::stage::copy_input)
        .def("__repr__", [](const Stage &s) { return str("<Stage ", s.name(), ">"); });
    define_directives(c);
}

}  // namespace tessera::python
