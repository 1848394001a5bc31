#include "bindings.h"
#include "docs/language.h"

namespace tessera::python {

void bind_rdom(nb::module_ &m) {
    nb::class_<Range>(m, "Range", docs::range::class_)
        .def(
            "__init__",
            [](Range *r, const ExprLike &min, const ExprLike &extent) {
                new (r) Range{min.get(), extent.get()};
            },
            "min"_a, "extent"_a)
        .def_rw("min", &Range::min, docs::range::min)
        .def_rw("extent", &Range::extent, docs::range::extent)
        .def("__repr__", [](const Range &r) { return str("Range(", r.min, ", ", r.extent, ")"); });
    nb::class_<RDom> rdom(m, "RDom", docs::rdom::class_);
    rdom.def(
            "__init__",
            [](RDom *r, nb::handle bounds, const std::string &name) {
                const Here at = here();
                if (is_array(bounds))
                    new (r) RDom(to_buffer(bounds, "RDom"), name, at);
                else if (nb::isinstance<OutputImageParam>(bounds))
                    new (r) RDom(nb::cast<OutputImageParam &>(bounds), name, at);
                else
                    new (r) RDom(to_region(bounds), name, at);
            },
            "bounds"_a, "name"_a = "", docs::rdom::init)
        .def("dimensions", &RDom::dimensions, docs::rdom::dimensions)
        .def("defined", &RDom::defined, docs::rdom::defined)
        .def("same_as", &RDom::same_as, "other"_a, docs::rdom::same_as)
        .def(
            "domain",
            [](const RDom &r) {
                nb::list ranges;
                for (int i = 0; i < r.dimensions(); i++)
                    ranges.append(nb::cast(Range{r[i].min(), r[i].extent()}));
                return ranges;
            },
            docs::rdom::domain)
        .def(
            "where", [](RDom &r, const ExprLike &condition) { r.where(condition, here()); },
            "condition"_a, docs::rdom::where)
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
        .def_prop_ro(
            "x", [](const RDom &r) { return r.x; }, docs::rdom::x)
        .def_prop_ro(
            "y", [](const RDom &r) { return r.y; }, docs::rdom::y)
        .def_prop_ro(
            "z", [](const RDom &r) { return r.z; }, docs::rdom::z)
        .def_prop_ro("w", [](const RDom &r) { return r.w; }, docs::rdom::w);
    define_operators(rdom);
}

}  // namespace tessera::python
