#include "bindings.h"
#include "docs/running.h"

namespace tessera::python {
namespace {

namespace bc = BoundaryConditions;

bc::Source to_source(nb::handle f) {
    const Here at = here();
    if (nb::isinstance<ImageParam>(f)) return bc::Source(nb::cast<ImageParam &>(f), at);
    if (nb::isinstance<Func>(f)) return bc::Source(nb::cast<Func &>(f), at);
    return bc::Source(to_buffer(f, "the source"), at);
}
Region to_bounds(nb::handle bounds) { return bounds.is_none() ? Region() : to_region(bounds); }

struct Condition {
    const char *name;
    Func (*apply)(const bc::Source &, const Region &);
    const char *doc;
};
const Condition conditions[] = {
    {"repeat_edge", [](const bc::Source &f, const Region &r) { return bc::repeat_edge(f, r); },
     docs::boundary::repeat_edge},
    {"repeat_image", [](const bc::Source &f, const Region &r) { return bc::repeat_image(f, r); },
     docs::boundary::repeat_image},
    {"mirror_image", [](const bc::Source &f, const Region &r) { return bc::mirror_image(f, r); },
     docs::boundary::mirror_image},
    {"mirror_interior",
     [](const bc::Source &f, const Region &r) { return bc::mirror_interior(f, r); },
     docs::boundary::mirror_interior},
};

}  // namespace

void bind_boundary_conditions(nb::module_ &m) {
    nb::module_ b = m.def_submodule("BoundaryConditions", docs::boundary::module_doc);
    for (const Condition &c : conditions) {
        b.def(
            c.name,
            [apply = c.apply](nb::handle f, nb::handle bounds) {
                return apply(to_source(f), to_bounds(bounds));
            },
            "f"_a, "bounds"_a = nb::none(), c.doc);
    }
    b.def(
        "constant_exterior",
        [](nb::handle f, nb::handle value, nb::handle bounds) {
            const bc::Source source = to_source(f);
            const Region region = to_bounds(bounds);
            if (!is_tuple(value)) return bc::constant_exterior(source, to_expr(value), region);
            return bc::constant_exterior(source, Tuple(to_exprs(value), here()), region);
        },
        "f"_a, "exterior"_a, "bounds"_a = nb::none(), docs::boundary::constant_exterior);
}

}  // namespace tessera::python
