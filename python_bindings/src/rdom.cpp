#include "bindings.h"

namespace tessera::python {

void bind_rdom(nb::module_ &m) {
    nb::class_<Range>(m, "Range", "The numbers from min on, as many as extent says.")
        .def(
            "__init__",
            [](Range *r, const ExprLike &min, const ExprLike &extent) {
                new (r) Range{min.get(), extent.get()};
            },
            "min"_a, "extent"_a)
        .def_rw("min", &Range::min)
        .def_rw("extent", &Range::extent)
        .def("__repr__", [](const Range &r) { return str("Range(", r.min, ", ", r.extent, ")"); });
    nb::class_<RDom> rdom(
        m, "RDom",
        "A box over which updates run, first variable fastest: RDom([(min, extent), ...]).");
    rdom.def(
            "__init__",
            [](RDom *r, nb::handle bounds, const std::string &name) {
                const Location at = here();
                if (is_array(bounds))
                    new (r) RDom(to_buffer(bounds, "RDom"), name, at);
                else if (nb::isinstance<OutputImageParam>(bounds))
                    new (r) RDom(nb::cast<OutputImageParam &>(bounds), name, at);
                else
                    new (r) RDom(to_region(bounds), name, at);
            },
            "bounds"_a, "name"_a = "",
            "Takes (min, extent) of each dimension, or all of a Buffer or an ImageParam.")
        .def("dimensions", &RDom::dimensions)
        .def("defined", &RDom::defined)
        .def("same_as", &RDom::same_as, "other"_a)
        .def(
            "domain",
            [](const RDom &r) {
                nb::list ranges;
                for (int i = 0; i < r.dimensions(); i++)
                    ranges.append(nb::cast(Range{r[i].min(), r[i].extent()}));
                return ranges;
            },
            "Returns the Range of each dimension.")
        .def(
            "where", [](RDom &r, const ExprLike &condition) { r.where(condition, here()); },
            "condition"_a, "Leaves only the points for which the condition holds.")
        .def("__len__", &RDom::dimensions)
        .def("__repr__",
             [](const RDom &r) {
                 std::vector<std::string> ranges;
                 for (int i = 0; i < r.dimensions(); i++)
                     ranges.push_back(
                         str(r[i].name(), ": (", r[i].min(), ", ", r[i].extent(), ")"));
                 return str("<RDom ", join(ranges), ">");
             })
        .def(
            "__getitem__",
            [](const RDom &r, int i) {
                if (i < 0 || i >= r.dimensions())
                    throw nb::index_error(
                        str("the RDom has ", r.dimensions(), " dimensions").c_str());
                return r[i];
            },
            "index"_a)
        .def_prop_ro("x", [](const RDom &r) { return r.x; })
        .def_prop_ro("y", [](const RDom &r) { return r.y; })
        .def_prop_ro("z", [](const RDom &r) { return r.z; })
        .def_prop_ro("w", [](const RDom &r) { return r.w; });
    define_operators(rdom);
}

}  // namespace tessera::python
