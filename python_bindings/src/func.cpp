#include "schedule.h"

namespace tessera::python {
namespace {

void define_queries(nb::class_<Func> &c) {
    c.def("name", &Func::name, "Returns the name, which no other Func has.")
        .def("defined", &Func::defined, "Returns True if it has a definition.")
        .def("dimensions", &Func::dimensions)
        .def("args", &Func::args, "Returns the Vars of the first definition.")
        .def(
            "value", [](const Func &f) { return f.value(here()); },
            "Returns the right side of the first definition.")
        .def("values", [](const Func &f) { return to_python(f.values(here()).as_vector()); })
        .def(
            "type", [](const Func &f) { return f.type(here()); }, "Returns the type of the value.")
        .def(
            "types", [](const Func &f) { return f.types(here()); },
            "Returns the types of all values.")
        .def(
            "outputs", [](const Func &f) { return f.outputs(here()); },
            "Returns the number of values.")
        .def(
            "update", [](const Func &f, int i) { return f.update(i, here()); }, "idx"_a = 0,
            "Returns the i-th update, to be scheduled.")
        .def("has_update_definition", &Func::has_update_definition)
        .def("num_update_definitions", &Func::num_update_definitions)
        .def(
            "update_args", [](const Func &f, int i) { return f.update_args(i, here()); },
            "idx"_a = 0)
        .def(
            "update_value", [](const Func &f, int i) { return f.update_value(i, here()); },
            "idx"_a = 0)
        .def(
            "update_values",
            [](const Func &f, int i) { return to_python(f.update_values(i, here()).as_vector()); },
            "idx"_a = 0)
        .def(
            "rvars", [](const Func &f, int i) { return f.rvars(i, here()); }, "idx"_a = 0)
        .def(
            "split_vars", [](const Func &f) { return to_python(f.split_vars()); },
            "Returns the loops of the first definition as they are now, innermost first.")
        .def("is_extern", &Func::is_extern, "Returns True if define_extern() has defined it.")
        .def(
            "pipeline", [](const Func &f) { return f.pipeline(here()); },
            "Returns the Pipeline whose only output this Func is.")
        .def(
            "output_buffer", [](const Func &f) { return f.output_buffer(here()); },
            "Returns the buffer that the caller passes for the output.")
        .def("output_buffers", [](const Func &f) { return f.output_buffers(here()); })
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
    nb::class_<Func> c(m, "Func", nb::dynamic_attr(),
                       "A stage of a pipeline: values over an infinite grid, and the schedule by "
                       "which they are computed.");
    c.def("__init__",
          [](Func *f) {
              here();  // the file's dialect is that of the Func
              new (f) Func();
          })
        .def(
            "__init__",
            [](Func *f, const std::string &name) {
                here();
                new (f) Func(name);
            },
            "name"_a, "Makes a Func of this name.")
        .def(
            "__init__",
            [](Func *f, nb::handle types, int dimensions, const std::string &name) {
                here();
                std::vector<Type> list;
                for (const nb::object &t : items(types)) list.push_back(to_type(t));
                new (f) Func(list, dimensions, name);
            },
            "type"_a, "dimensions"_a, "name"_a = "",
            "Makes a Func that can only be defined with this type, or these, and number of "
            "dimensions.")
        .def(
            "__init__",
            [](Func *f, nb::handle values) {
                const Location at = here();
                if (nb::isinstance<Func>(values))
                    new (f) Func(nb::cast<Func &>(values));
                else if (nb::isinstance<ImageParam>(values))
                    new (f) Func(to_func(values));
                else if (is_array(values) && !as_expr(values))
                    new (f) Func(to_buffer(values, "Func"), at);
                else
                    new (f) Func(to_expr(values), at);
            },
            "values"_a,
            "Makes a Func with the values of an expression, a Buffer, an array or an ImageParam.")
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
