#include "bindings.h"

namespace tessera::python {

void set_value(Param<> &p, nb::handle value) {
    const Location at = here();
    detail::set_scalar(*p.parameter(), p.type(),
                       number_bits(p.type(), value, [&] { return str("Param ", p.name()); }), at);
}

nb::object value_of(const Param<> &p) {
    const uint64_t bits = detail::scalar_bits(*p.parameter(), p.type(), here());
    return number_at(p.type(), &bits, 0);
}

namespace {

void bind_dimension(nb::module_ &m) {
    nb::class_<Dimension>(m, "Dimension",
                          "One dimension of an input or output, and what a pipeline may rely on.")
        .def("min", &Dimension::min, "Returns the least coordinate, as an expression.")
        .def("max", &Dimension::max, "Returns the largest coordinate, as an expression.")
        .def("extent", &Dimension::extent, "Returns the number of coordinates.")
        .def("stride", &Dimension::stride)
        .def("min_estimate", &Dimension::min_estimate)
        .def("extent_estimate", &Dimension::extent_estimate)
        .def(
            "set_min", [](Dimension &d, const ExprLike &min) { return d.set_min(min, here()); },
            "min"_a)
        .def(
            "set_extent",
            [](Dimension &d, const ExprLike &extent) { return d.set_extent(extent, here()); },
            "extent"_a)
        .def(
            "set_stride",
            [](Dimension &d, const ExprLike &stride) { return d.set_stride(stride, here()); },
            "stride"_a, "Requires this distance of neighbours, in elements.")
        .def(
            "set_bounds",
            [](Dimension &d, const ExprLike &min, const ExprLike &extent) {
                return d.set_bounds(min, extent, here());
            },
            "min"_a, "extent"_a)
        .def(
            "set_estimate",
            [](Dimension &d, const ExprLike &min, const ExprLike &extent) {
                return d.set_estimate(min, extent, here());
            },
            "min"_a, "extent"_a)
        .def("dim", [](const Dimension &d, int i) { return d.dim(i, here()); }, "dimension"_a);
}

void bind_image_param(nb::module_ &m) {
    using Output = OutputImageParam;
    nb::class_<Output>(m, "OutputImageParam", "The buffer that the caller passes for an output.")
        .def("name", [](const Output &o) { return o.name(here()); })
        .def("type", [](const Output &o) { return o.type(here()); })
        .def("dimensions", [](const Output &o) { return o.dimensions(here()); })
        .def("defined", &Output::defined)
        .def(
            "dim", [](const Output &o, int i) { return o.dim(i, here()); }, "dimension"_a)
        .def("left", [](const Output &o) { return o.left(here()); })
        .def("right", [](const Output &o) { return o.right(here()); })
        .def("top", [](const Output &o) { return o.top(here()); })
        .def("bottom", [](const Output &o) { return o.bottom(here()); })
        .def("width", [](const Output &o) { return o.width(here()); })
        .def("height", [](const Output &o) { return o.height(here()); })
        .def("channels", [](const Output &o) { return o.channels(here()); })
        .def(
            "set_host_alignment",
            [](Output &o, int bytes) -> Output & { return o.set_host_alignment(bytes, here()); },
            "bytes"_a, nb::rv_policy::none)
        .def("host_alignment", [](const Output &o) { return o.host_alignment(here()); })
        .def(
            "set_estimates",
            [](Output &o, nb::handle estimates) -> Output & {
                return o.set_estimates(to_region(estimates), here());
            },
            "estimates"_a, nb::rv_policy::none)
        .def(
            "store_in",
            [](Output &o, MemoryType memory) -> Output & { return o.store_in(memory, here()); },
            "memory"_a, nb::rv_policy::none);

    nb::class_<ImageParam, Output>(m, "ImageParam", "A buffer that the caller passes as input.")
        .def(
            "__init__",
            [](ImageParam *p, const TypeLike &type, int dimensions, const std::string &name) {
                new (p) ImageParam(type.get(), dimensions, name, here());
            },
            "type"_a, "dimensions"_a, "name"_a = "")
        .def(
            "set",
            [](ImageParam &p, nb::handle buffer) {
                p.set(to_buffer(buffer, [&] { return str("ImageParam ", p.name()); }), here());
            },
            "buffer"_a, "Sets the Buffer or array that realize() passes: shared, not copied.")
        .def(
            "get", [](const ImageParam &p) { return p.get(here()); },
            "Returns the Buffer that set() was given, or infer_input_bounds() has made.")
        .def(
            "reset", [](ImageParam &p) { p.reset(here()); },
            "Forgets the Buffer, so that infer_input_bounds() makes a new one.")
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
            "Returns a Func with the same values, which the consumers, or all, use instead.")
        .def("trace_loads", [](ImageParam &p) { p.trace_loads(here()); })
        .def(
            "add_trace_tag",
            [](ImageParam &p, const std::string &tag) -> ImageParam & {
                return p.add_trace_tag(tag, here());
            },
            "trace_tag"_a, nb::rv_policy::none)
        .def("__repr__", [](const ImageParam &p) {
            return str("<ImageParam ", p.name(), ": ", p.type(), ", ", p.dimensions(),
                       " dimensions>");
        });
}

}  // namespace

void bind_params(nb::module_ &m) {
    nb::class_<Param<>> param(m, "Param",
                              "A number that the caller gives each time the pipeline runs.");
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
            "max"_a = nb::none(), "Takes the type, and perhaps a name, a value and its limits.")
        .def("name", &Param<>::name)
        .def("type", &Param<>::type)
        .def("defined", [](const Param<> &) { return true; })
        .def("set", &set_value, "value"_a, "Sets the value for the runs that follow.")
        .def("get", &value_of, "Returns the value that was set.")
        .def(
            "set_min_value", [](Param<> &p, const ExprLike &min) { p.set_min_value(min, here()); },
            "min"_a)
        .def(
            "set_max_value", [](Param<> &p, const ExprLike &max) { p.set_max_value(max, here()); },
            "max"_a)
        .def("min_value", &Param<>::min_value)
        .def("max_value", &Param<>::max_value)
        .def("estimate", &Param<>::estimate)
        .def(
            "set_range",
            [](Param<> &p, const ExprLike &min, const ExprLike &max) {
                p.set_range(min, max, here());
            },
            "min"_a, "max"_a,
            "Limits what callers may pass; it is checked whenever the pipeline runs.")
        .def(
            "set_estimate",
            [](Param<> &p, const ExprLike &value) { p.set_estimate(value.get(), here()); },
            "value"_a)
        .def("__repr__",
             [](const Param<> &p) { return str("<Param ", p.name(), ": ", p.type(), ">"); });
    define_operators(param);
    bind_dimension(m);
    bind_image_param(m);
    bind_parameter(m);
}

}  // namespace tessera::python
