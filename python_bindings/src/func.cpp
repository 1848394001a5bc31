#include "docs/func.h"
#include "schedule.h"

namespace tessera::python {
namespace {

void define_queries(nb::class_<Func> &c) {
    c.def("name", &Func::name, docs::func::name)
        .def("defined", &Func::defined, docs::func::defined)
        .def("dimensions", &Func::dimensions, docs::func::dimensions)
        .def("args", &Func::args, docs::func::args)
        .def(
            "value", [](const Func &f) { return f.value(here()); }, docs::func::value)
        .def(
            "values", [](const Func &f) { return to_python(f.values(here()).as_vector()); },
            docs::func::values)
        .def(
            "type", [](const Func &f) { return f.type(here()); }, docs::func::type)
        .def(
            "types", [](const Func &f) { return f.types(here()); }, docs::func::types)
        .def(
            "outputs", [](const Func &f) { return f.outputs(here()); }, docs::func::outputs)
        .def(
            "update", [](const Func &f, int i) { return f.update(i, here()); }, "idx"_a = 0,
            docs::func::update)
        .def("has_update_definition", &Func::has_update_definition,
             docs::func::has_update_definition)
        .def("num_update_definitions", &Func::num_update_definitions,
             docs::func::num_update_definitions)
        .def(
            "update_args", [](const Func &f, int i) { return f.update_args(i, here()); },
            "idx"_a = 0, docs::func::update_args)
        .def(
            "update_value", [](const Func &f, int i) { return f.update_value(i, here()); },
            "idx"_a = 0, docs::func::update_value)
        .def(
            "update_values",
            [](const Func &f, int i) { return to_python(f.update_values(i, here()).as_vector()); },
            "idx"_a = 0, docs::func::update_values)
        .def(
            "rvars", [](const Func &f, int i) { return f.rvars(i, here()); }, "idx"_a = 0,
            docs::func::rvars)
        .def(
            "split_vars", [](const Func &f) { return to_python(f.split_vars()); },
            docs::func::split_vars)
        .def("is_extern", &Func::is_extern, docs::func::is_extern)
        .def(
            "pipeline", [](const Func &f) { return f.pipeline(here()); }, docs::func::pipeline)
        .def(
            "output_buffer", [](const Func &f) { return f.output_buffer(here()); },
            docs::func::output_buffer)
        .def(
            "output_buffers", [](const Func &f) { return f.output_buffers(here()); },
            docs::func::output_buffers)
        .def("__repr__",
             [](const Func &f) {
                 if (!f.defined()) return str("<Func ", f.name(), ", not defined>");
                 std::vector<std::string> args;
                 for (const Var &v : f.args()) args.push_back(v.name());
                 const int updates = f.num_update_definitions();
                 return str(
                     "<Func ", f.name(), "(", join(args), "): ", join(f.types()),
                     updates ? str(", ", updates, updates == 1 ? " update" : " updates") : "", ">");
             })
        .def("__copy__", [](const Func &f) { return f; })
        .def("__reduce__", [](const Func &) -> nb::object {
            throw nb::type_error("a Func is not sent to other processes: send the function that "
                                 "builds it, or compile_to_static_library()");
        });
}

}  // namespace

void bind_func(nb::module_ &m) {
    nb::class_<Func> c(m, "Func", nb::dynamic_attr(), docs::func::class_);
    c.def(
         "__init__",
         [](Func *f) {
             here();  // the file's dialect is that of the Func
             new (f) Func();
         },
         docs::func::init)
        .def(
            "__init__",
            [](Func *f, const std::string &name) {
                here();
                new (f) Func(name);
            },
            "name"_a, docs::func::name_only)
        .def(
            "__init__",
            [](Func *f, nb::handle types, int dimensions, const std::string &name) {
                here();
                std::vector<Type> list;
                for (const nb::object &t : items(types)) list.push_back(to_type(t));
                new (f) Func(list, dimensions, name);
            },
            "type"_a, "dimensions"_a, "name"_a = "", docs::func::typed)
        .def(
            "__init__",
            [](Func *f, nb::handle values) {
                const Here at = here();
                if (nb::isinstance<Func>(values))
                    new (f) Func(nb::cast<Func &>(values));
                else if (nb::isinstance<ImageParam>(values))
                    new (f) Func(to_func(values));
                else if (is_array(values) && !as_expr(values))
                    new (f) Func(to_buffer(values, "Func"), at);
                else
                    new (f) Func(to_expr(values), at);
            },
            "values"_a, docs::func::of_values)
        .def("__getitem__", &place_of, "position"_a)
        .def("__call__", [](const Func &f, nb::args position) { return place_of(f, position); })
        .def(
            "__setitem__",
            [](const Func &f, nb::handle position, nb::handle value) {
                define(place_of(f, position), value);
            },
            "position"_a, "value"_a);
    define_directives(c);
    define_func_directives(c);
    define_queries(c);
    define_running(c);
    define_extern_stages(c);
}

}  // namespace tessera::python
