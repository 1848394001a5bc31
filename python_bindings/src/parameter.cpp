#include "docs/parameter.h"
#include "bindings.h"

// Halide's Parameter: a Param or an ImageParam, where a program does not say which.
namespace tessera::python {
namespace {

using program::ParameterRef;

struct Parameter {
    ParameterRef of;

    const program::Parameter &get() const { return *of; }
    Param<> number() const {
        if (!of->is_buffer) return Param<>(of);
        throw CompileError(here(), str("the parameter ", of->name, " is a buffer and no number"));
    }
    ImageParam buffer() const {
        if (of->is_buffer) return ImageParam(of);
        throw CompileError(here(), str("the parameter ", of->name, " is a number and no buffer"));
    }
    program::DimensionConstraint &dimension(int i) const {
        buffer();
        if (i >= 0 && i < of->dimensions) return of->constraints[size_t(i)];
        throw CompileError(here(), str("the parameter ", of->name, " has ", of->dimensions,
                                       " dimensions; there is none of number ", i));
    }
};

void make(Parameter *p, const Type &type, bool is_buffer, int dimensions, const std::string &name) {
    const Here at = here();
    if (!is_buffer && dimensions != 0)
        throw CompileError(at, str("the parameter ", name, " is a number and has dimensions"));
    new (p) Parameter{is_buffer ? ImageParam(type, dimensions, name, at).parameter()
                                : Param<>(type, name, at).parameter()};
}

// Names what the caller may say of one dimension; the member is undefined where nothing is said.
struct Constraint {
    const char *get, *set, *doc_of_get, *doc_of_set;
    Expr program::DimensionConstraint::*member;
    Dimension (*apply)(Dimension &, const Expr &, const Location &);
};
const Constraint constraints[] = {
    {"min_constraint", "set_min_constraint", docs::parameter::min_constraint,
     docs::parameter::set_min_constraint, &program::DimensionConstraint::min,
     [](Dimension &d, const Expr &e, const Location &at) { return d.set_min(e, at); }},
    {"extent_constraint", "set_extent_constraint", docs::parameter::extent_constraint,
     docs::parameter::set_extent_constraint, &program::DimensionConstraint::extent,
     [](Dimension &d, const Expr &e, const Location &at) { return d.set_extent(e, at); }},
    {"stride_constraint", "set_stride_constraint", docs::parameter::stride_constraint,
     docs::parameter::set_stride_constraint, &program::DimensionConstraint::stride,
     [](Dimension &d, const Expr &e, const Location &at) { return d.set_stride(e, at); }},
};

void define_constraints(nb::class_<Parameter> &c) {
    for (const Constraint &k : constraints) {
        c.def(
            k.get, [&k](const Parameter &p, int i) { return p.dimension(i).*k.member; },
            "dimension"_a, k.doc_of_get);
        c.def(
            k.set,
            [&k](const Parameter &p, int i, const ExprLike &e) {
                const Here at = here();
                Dimension d = p.buffer().dim(i, at);
                k.apply(d, e, at);
            },
            "dimension"_a, "value"_a, k.doc_of_set);
    }
    c.def(
         "min_constraint_estimate",
         [](const Parameter &p, int i) { return p.dimension(i).min_estimate; }, "dimension"_a,
         docs::parameter::min_constraint_estimate)
        .def(
            "extent_constraint_estimate",
            [](const Parameter &p, int i) { return p.dimension(i).extent_estimate; }, "dimension"_a,
            docs::parameter::extent_constraint_estimate)
        .def(
            "set_min_constraint_estimate",
            [](const Parameter &p, int i, const ExprLike &e) {
                p.dimension(i).min_estimate = e.get();
            },
            "dimension"_a, "value"_a, docs::parameter::set_min_constraint_estimate)
        .def(
            "set_extent_constraint_estimate",
            [](const Parameter &p, int i, const ExprLike &e) {
                p.dimension(i).extent_estimate = e.get();
            },
            "dimension"_a, "value"_a, docs::parameter::set_extent_constraint_estimate)
        .def(
            "set_host_alignment",
            [](const Parameter &p, int bytes) { p.buffer().set_host_alignment(bytes, here()); },
            "bytes"_a, docs::parameter::set_host_alignment)
        .def(
            "host_alignment", [](const Parameter &p) { return p.buffer().host_alignment(here()); },
            docs::parameter::host_alignment);
}

void define_number(nb::class_<Parameter> &c) {
    c.def(
         "scalar", [](const Parameter &p) { return value_of(p.number()); }, docs::parameter::scalar)
        .def(
            "set_scalar",
            [](const Parameter &p, nb::handle value) {
                Param<> number = p.number();
                set_value(number, value);
            },
            "value"_a, docs::parameter::set_scalar)
        .def(
            "set_scalar",
            [](const Parameter &p, const TypeLike &type, nb::handle value) {
                Param<> number = p.number();
                if (type.get() != number.type())
                    throw CompileError(here(), str("the parameter ", number.name(), " is a ",
                                                   number.type(), " and no ", type.get()));
                set_value(number, value);
            },
            "type"_a, "value"_a)
        .def(
            "scalar_expr", [](const Parameter &p) { return Expr(p.number()); },
            docs::parameter::scalar_expr)
        .def(
            "set_min_value",
            [](const Parameter &p, const ExprLike &e) { p.number().set_min_value(e, here()); },
            "min"_a, docs::parameter::set_min_value)
        .def(
            "set_max_value",
            [](const Parameter &p, const ExprLike &e) { p.number().set_max_value(e, here()); },
            "max"_a, docs::parameter::set_max_value)
        .def(
            "min_value", [](const Parameter &p) { return p.number().min_value(); },
            docs::parameter::min_value)
        .def(
            "max_value", [](const Parameter &p) { return p.number().max_value(); },
            docs::parameter::max_value)
        .def(
            "set_estimate",
            [](const Parameter &p, const ExprLike &e) { p.number().set_estimate(e.get(), here()); },
            "value"_a, docs::parameter::set_estimate)
        .def(
            "estimate", [](const Parameter &p) { return p.number().estimate(); },
            docs::parameter::estimate);
}

}  // namespace

void bind_parameter(nb::module_ &m) {
    nb::class_<Parameter> c(m, "Parameter", docs::parameter::class_);
    c.def(
         "__init__",
         [](Parameter *p, const TypeLike &type, bool is_buffer, int dimensions,
            const std::string &name) { make(p, type.get(), is_buffer, dimensions, name); },
         "type"_a, "is_buffer"_a, "dimensions"_a, "name"_a = "")
        .def(
            "__init__", [](Parameter *p, const Parameter &other) { new (p) Parameter(other); },
            "other"_a, "Is the same parameter.")
        .def(
            "__init__",
            [](Parameter *p, const Param<> &number) { new (p) Parameter{number.parameter()}; },
            "number"_a)
        .def(
            "__init__",
            [](Parameter *p, const ImageParam &image) { new (p) Parameter{image.parameter()}; },
            "image"_a)
        .def(
            "type", [](const Parameter &p) { return p.get().type; }, docs::parameter::type)
        .def(
            "dimensions", [](const Parameter &p) { return p.get().dimensions; },
            docs::parameter::dimensions)
        .def(
            "name", [](const Parameter &p) { return p.get().name.text(); }, docs::parameter::name)
        .def(
            "is_buffer", [](const Parameter &p) { return p.get().is_buffer; },
            docs::parameter::is_buffer)
        .def(
            "defined", [](const Parameter &) { return true; }, docs::parameter::defined)
        .def(
            "same_as",
            [](const Parameter &p, const Parameter &o) { return p.of.get() == o.of.get(); },
            "other"_a, docs::parameter::same_as)
        .def(
            "buffer", [](const Parameter &p) { return p.buffer().get(here()); },
            docs::parameter::buffer)
        .def(
            "set_buffer",
            [](const Parameter &p, nb::handle buffer) {
                ImageParam image = p.buffer();
                image.set(to_buffer(buffer, [&] { return str("Parameter ", image.name()); }),
                          here());
            },
            "buffer"_a, docs::parameter::set_buffer)
        .def("_to_argument", [](const Parameter &p) { return Argument(p.of); })
        .def("__repr__", [](const Parameter &p) {
            return str("<Parameter ", p.of->name, ": ", p.of->type, ">");
        });
    define_constraints(c);
    define_number(c);
    nb::object param = m.attr("Param"), image = m.attr("ImageParam");
    static_cast<nb::class_<Param<>> &>(param).def(
        "parameter", [](const Param<> &p) { return Parameter{p.parameter()}; },
        docs::parameter::of_param);
    static_cast<nb::class_<ImageParam> &>(image).def(
        "parameter", [](const ImageParam &p) { return Parameter{p.parameter()}; },
        docs::parameter::of_image);
}

}  // namespace tessera::python
