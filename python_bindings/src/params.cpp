#include "docs/params.h"
#include "bindings.h"

namespace tessera::python {

void set_value(Param<> &p, nb::handle value) {
    const Here at = here();
    detail::set_scalar(*p.parameter(), p.type(),
                       number_bits(p.type(), value, [&] { return str("Param ", p.name()); }), at);
}

nb::object value_of(const Param<> &p) {
    const uint64_t bits = detail::scalar_bits(*p.parameter(), p.type(), here());
    return number_at(p.type(), &bits, 0);
}

namespace {

void bind_dimension(nb::module_ &m) {
    nb::class_<Dimension>(m, "Dimension", docs::dimension::class_)
        .def("min", &Dimension::min, docs::dimension::min)
        .def("max", &Dimension::max, docs::dimension::max)
        .def("extent", &Dimension::extent, docs::dimension::extent)
        .def("stride", &Dimension::stride, docs::dimension::stride)
        .def("min_estimate", &Dimension::min_estimate, docs::dimension::min_estimate)
        .def("extent_estimate", &Dimension::extent_estimate, docs::dimension::extent_estimate)
        .def(
            "set_min", [](Dimension &d, const ExprLike &min) { return d.set_min(min, here()); },
            "min"_a, docs::dimension::set_min)
        .def(
            "set_extent",
            [](Dimension &d, const ExprLike &extent) { return d.set_extent(extent, here()); },
            "extent"_a, docs::dimension::set_extent)
        .def(
            "set_stride",
            [](Dimension &d, const ExprLike &stride) { return d.set_stride(stride, here()); },
            "stride"_a, docs::dimension::set_stride)
        .def(
            "set_bounds",
            [](Dimension &d, const ExprLike &min, const ExprLike &extent) {
                return d.set_bounds(min, extent, here());
            },
            "min"_a, "extent"_a, docs::dimension::set_bounds)
        .def(
            "set_estimate",
            [](Dimension &d, const ExprLike &min, const ExprLike &extent) {
                return d.set_estimate(min, extent, here());
            },
            "min"_a, "extent"_a, docs::dimension::set_estimate)
        .def(
            "dim", [](const Dimension &d, int i) { return d.dim(i, here()); }, "dimension"_a,
            docs::dimension::dim);
}

void bind_image_param(nb::module_ &m) {
    using Output = OutputImageParam;
    nb::class_<Output>(m, "OutputImageParam", docs::output::class_)
        .def(
            "name", [](const Output &o) { return o.name(here()); }, docs::output::name)
        .def(
            "type", [](const Output &o) { return o.type(here()); }, docs::output::type)
        .def(
            "dimensions", [](const Output &o) { return o.dimensions(here()); },
            docs::output::dimensions)
        .def("defined", &Output::defined, docs::output::defined)
        .def(
            "dim", [](const Output &o, int i) { return o.dim(i, here()); }, "dimension"_a,
            docs::output::dim)
        .def(
            "left", [](const Output &o) { return o.left(here()); }, docs::output::left)
        .def(
            "right", [](const Output &o) { return o.right(here()); }, docs::output::right)
        .def(
            "top", [](const Output &o) { return o.top(here()); }, docs::output::top)
        .def(
            "bottom", [](const Output &o) { return o.bottom(here()); }, docs::output::bottom)
        .def(
            "width", [](const Output &o) { return o.width(here()); }, docs::output::width)
        .def(
            "height", [](const Output &o) { return o.height(here()); }, docs::output::height)
        .def(
            "channels", [](const Output &o) { return o.channels(here()); }, docs::output::channels)
        .def(
            "set_host_alignment",
            [](Output &o, int bytes) -> Output & { return o.set_host_alignment(bytes, here()); },
            "bytes"_a, nb::rv_policy::none, docs::output::set_host_alignment)
        .def(
            "host_alignment", [](const Output &o) { return o.host_alignment(here()); },
            docs::output::host_alignment)
        .def(
            "set_estimates",
            [](Output &o, nb::handle estimates) -> Output & {
                return o.set_estimates(to_region(estimates), here());
            },
            "estimates"_a, nb::rv_policy::none, docs::output::set_estimates)
        .def(
            "store_in",
            [](Output &o, MemoryType memory) -> Output & { return o.store_in(memory, here()); },
            "memory"_a, nb::rv_policy::none, docs::output::store_in);

    nb::class_<ImageParam, Output>(m, "ImageParam", docs::image::class_)
        .def(
            "__init__",
            [](ImageParam *p, const TypeLike &type, int dimensions, const std::string &name) {
                new (p) ImageParam(type.get(), dimensions, name, here());
            },
            "type"_a, "dimensions"_a, "name"_a = "", docs::image::init)
        .def(
            "set",
            [](ImageParam &p, nb::handle buffer) {
                p.set(to_buffer(buffer, [&] { return str("ImageParam ", p.name()); }), here());
            },
            "buffer"_a, docs::image::set)
        .def(
            "get", [](const ImageParam &p) { return p.get(here()); }, docs::image::get)
        .def(
            "reset", [](ImageParam &p) { p.reset(here()); }, docs::image::reset)
        .def(
            "__getitem__",
            [](const ImageParam &p, nb::handle position) { return p(to_exprs(position), here()); },
            "position"_a)
        .def("__call__",
             [](const ImageParam &p, nb::args position) { return p(to_exprs(position), here()); })
        .def(
            "in_",
            [](ImageParam &p, nb::args consumers) {
                const std::vector<Func> list = to_funcs(consumers);
                return list.empty() ? p.in(here()) : p.in(list, here());
            },
            docs::image::in_)
        .def(
            "trace_loads", [](ImageParam &p) { p.trace_loads(here()); }, docs::image::trace_loads)
        .def(
            "add_trace_tag",
            [](ImageParam &p, const std::string &tag) -> ImageParam & {
                return p.add_trace_tag(tag, here());
            },
            "trace_tag"_a, nb::rv_policy::none, docs::image::add_trace_tag)
        .def("__repr__", [](const ImageParam &p) {
            return str("<ImageParam ", p.name(), ": ", p.type(), ", ", p.dimensions(),
                       " dimensions>");
        });
}

}  // namespace

void bind_params(nb::module_ &m) {
    nb::class_<Param<>> param(m, "Param", docs::param::class_);
    param
        .def(
            "__init__",
            [](Param<> *p, const TypeLike &type, nb::handle name, nb::handle value, nb::handle min,
               nb::handle max) {
                // The name may be left out: Param(type, value, min, max).
                const bool is_named = nb::isinstance<nb::str>(name);
                if (!is_named && !name.is_none()) {
                    if (!value.is_none()) max = std::exchange(min, value);
                    value = name;
                }
                new (p) Param<>(type.get(), is_named ? nb::cast<std::string>(name) : "", here());
                if (!value.is_none()) set_value(*p, value);
                if (!min.is_none() || !max.is_none())
                    p->set_range(min.is_none() ? Expr() : to_expr(min),
                                 max.is_none() ? Expr() : to_expr(max), here());
            },
            "type"_a, "name"_a = "", "value"_a = nb::none(), "min"_a = nb::none(),
            "max"_a = nb::none(), docs::param::init)
        .def("name", &Param<>::name, docs::param::name)
        .def("type", &Param<>::type, docs::param::type)
        .def(
            "defined", [](const Param<> &) { return true; }, docs::param::defined)
        .def("set", &set_value, "value"_a, docs::param::set)
        .def("get", &value_of, docs::param::get)
        .def(
            "set_min_value", [](Param<> &p, const ExprLike &min) { p.set_min_value(min, here()); },
            "min"_a, docs::param::set_min_value)
        .def(
            "set_max_value", [](Param<> &p, const ExprLike &max) { p.set_max_value(max, here()); },
            "max"_a, docs::param::set_max_value)
        .def("min_value", &Param<>::min_value, docs::param::min_value)
        .def("max_value", &Param<>::max_value, docs::param::max_value)
        .def("estimate", &Param<>::estimate, docs::param::estimate)
        .def(
            "set_range",
            [](Param<> &p, const ExprLike &min, const ExprLike &max) {
                p.set_range(min, max, here());
            },
            "min"_a, "max"_a, docs::param::set_range)
        .def(
            "set_estimate",
            [](Param<> &p, const ExprLike &value) { p.set_estimate(value.get(), here()); },
            "value"_a, docs::param::set_estimate)
        .def("__repr__",
             [](const Param<> &p) { return str("<Param ", p.name(), ": ", p.type(), ">"); });
    define_operators(param);
    bind_dimension(m);
    bind_image_param(m);
    bind_parameter(m);
}

}  // namespace tessera::python
