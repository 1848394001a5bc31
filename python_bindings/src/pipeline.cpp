#include "bindings.h"

namespace tessera::python {
namespace {

std::string text_of(nb::handle object) { return nb::cast<std::string>(object.attr("__str__")()); }

std::vector<Argument> to_arguments(nb::handle objects) {
    std::vector<Argument> list;
    for (nb::handle o : objects) {
        if (nb::isinstance<Argument>(o))
            list.push_back(nb::cast<Argument &>(o));
        else if (nb::isinstance<ImageParam>(o))
            list.emplace_back(nb::cast<ImageParam &>(o));
        else if (nb::isinstance<Param<>>(o))
            list.emplace_back(nb::cast<Param<> &>(o));
        else if (nb::isinstance<Buffer<>>(o))
            list.emplace_back(nb::cast<Buffer<> &>(o));
        else
            throw nb::type_error(
                str("a ", class_of(o), " is no argument of a pipeline: a Param or an ImageParam is")
                    .c_str());
    }
    return list;
}

nb::object of_realization(const Realization &r) {
    if (r.size() == 1) return nb::cast(r[0]);
    nb::list list;
    for (size_t i = 0; i < r.size(); i++) list.append(nb::cast(r[i]));
    return nb::tuple(list);
}

bool are_sizes(nb::handle what) {
    if (!nb::isinstance<nb::list>(what) && !nb::isinstance<nb::tuple>(what)) return false;
    for (nb::handle n : what) {
        if (!PyIndex_Check(n.ptr())) return false;
    }
    return true;
}
std::vector<Buffer<>> to_outputs(nb::handle what) {
    std::vector<Buffer<>> outputs;
    for (const nb::object &b : items(what))
        outputs.push_back(
            to_buffer(b, [&] { return str("output ", outputs.size()); }, true, "", true));
    return outputs;
}

nb::object realize(Pipeline p, nb::handle what, const Target &target) {
    const Location at = here();
    if (are_sizes(what)) {
        const auto sizes = nb::cast<std::vector<int32_t>>(what);
        std::optional<Realization> result;
        {
            nb::gil_scoped_release no_gil;
            result = p.realize(sizes, target, at);
            // Python reads the elements by address.
            for (Buffer<> &b : *result) b.copy_to_host(nullptr, at);
        }
        return of_realization(*result);
    }
    std::vector<Buffer<>> outputs = to_outputs(what);
    {
        nb::gil_scoped_release no_gil;
        p.realize(RealizationArg(outputs), target, at);
        for (Buffer<> &b : outputs) b.copy_to_host(nullptr, at);
    }
    return nb::none();
}

void infer_input_bounds(Pipeline p, nb::handle what, const Target &target) {
    const Location at = here();
    if (are_sizes(what))
        return p.infer_input_bounds(nb::cast<std::vector<int32_t>>(what), target, at);
    p.infer_input_bounds(RealizationArg(to_outputs(what)), target, at);
}

// ---- Callable ----

// Calls with arguments by position, then by name. Outputs are passed, as inputs are.
void call(const Callable &callable, nb::args args, nb::kwargs kwargs) {
    const Location at = here();
    const std::vector<Argument> &wanted = callable.arguments();
    std::vector<CallableArgument> passed;
    std::vector<Buffer<>> buffers;
    passed.reserve(wanted.size());
    buffers.reserve(wanted.size());
    size_t named = 0;
    if (args.size() > wanted.size())
        throw nb::type_error(
            str("the Callable takes ", wanted.size(), " arguments, not ", args.size()).c_str());
    for (size_t i = 0; i < wanted.size(); i++) {
        const Argument &w = wanted[i];
        nb::object given;
        if (i < args.size()) {
            given = nb::borrow(args[i]);
        } else if (kwargs.contains(w.name.c_str())) {
            given = nb::borrow(kwargs[w.name.c_str()]);
            named++;
        } else {
            throw nb::type_error(str("argument ", i, " (", w.name, ") is missing").c_str());
        }
        const std::pair which(i, &w.name);
        const auto what = [&which] {
            return str("argument ", which.first, " (", *which.second, ")");
        };
        if (w.is_scalar()) {
            passed.push_back({w.type, number_bits(w.type, given, what)});
            continue;
        }
        const Buffer<> b = to_buffer(given, what, true, "", w.is_output());
        if (b.type() != w.type || b.dimensions() != w.dimensions) {
            throw nb::type_error(str(what(), ": ", nb::cast<std::string>(nb::repr(nb::cast(b))),
                                     "; wanted ", int(w.dimensions),
                                     w.dimensions == 1 ? " dimension of " : " dimensions of ",
                                     w.type)
                                     .c_str());
        }
        passed.push_back(b.raw_buffer());
        buffers.push_back(b);
    }
    if (named < kwargs.size())
        throw nb::type_error(
            "an argument is given twice, or has a name that the Callable does not know");
    nb::gil_scoped_release no_gil;
    callable.call(passed, nullptr, at);
    for (Buffer<> &b : buffers) {
        if (b.device_dirty()) b.copy_to_host(nullptr, at);
    }
}

// ---- Texts and files ----

template<typename C> Pipeline pipeline_of(C &c, const Location &at) {
    if constexpr (std::is_same_v<C, Func>)
        return c.pipeline(at);
    else
        return c;
}

template<typename C> void define_texts(nb::class_<C> &c) {
    const std::pair<const char *, OutputFileType> texts[] = {
        {"lowered_stmt", OutputFileType::stmt},
        {"conceptual_stmt", OutputFileType::conceptual_stmt},
        {"llvm_assembly", OutputFileType::llvm_assembly},
        {"assembly", OutputFileType::assembly},
        {"c_source", OutputFileType::c_source},
        {"ptx", OutputFileType::device_code}};
    for (const auto &[name, type] : texts) {
        c.def(
            name,
            [type = type](C &f, const Target &target) {
                const Location at = here();
                nb::gil_scoped_release no_gil;
                return pipeline_of(f, at).compile_to_string(type, {}, "", target, at);
            },
            "target"_a = Target(), "Returns what compile_to() writes, as a string.");
        c.def(
            str("compile_to_", name).c_str(),
            [type = type](C &f, const std::string &path, nb::handle arguments,
                          const std::string &function, const Target &target) {
                const Location at = here();
                const std::vector<Argument> args = arguments.is_none()
                                                       ? pipeline_of(f, at).infer_arguments(at)
                                                       : to_arguments(arguments);
                nb::gil_scoped_release no_gil;
                pipeline_of(f, at).compile_to({{type, path}}, args, function, target, at);
            },
            "path"_a, "arguments"_a = nb::none(), "fn_name"_a = "", "target"_a = Target());
    }
    c.def(
        "compile_to",
        [](C &f, const nb::dict &files, nb::handle arguments, const std::string &function,
           const Target &target) {
            const Location at = here();
            std::map<OutputFileType, std::string> paths;
            for (auto [type, path] : files) paths[nb::cast<OutputFileType>(type)] = text_of(path);
            const std::vector<Argument> args = to_arguments(arguments);
            nb::gil_scoped_release no_gil;
            pipeline_of(f, at).compile_to(paths, args, function, target, at);
        },
        "outputs"_a, "arguments"_a, "fn_name"_a = "", "target"_a = Target(),
        "Writes a file of each type, at its path.");
    c.def(
        "compile_to_static_library",
        [](C &f, const std::string &prefix, nb::handle arguments, const std::string &function,
           const Target &target) {
            const Location at = here();
            const std::vector<Argument> args = to_arguments(arguments);
            nb::gil_scoped_release no_gil;
            pipeline_of(f, at).compile_to_static_library(prefix, args, function, target, at);
        },
        "prefix"_a, "arguments"_a, "fn_name"_a = "", "target"_a = Target(),
        "Writes a library and its header: prefix.a and prefix.h.");
    c.def(
         "loop_nest", [](C &f) { return pipeline_of(f, here()).loop_nest(here()); },
         "Returns the loops that the schedule comes to, as text.")
        .def("print_loop_nest",
             [](C &f) {
                 nb::module_::import_("builtins")
                     .attr("print")(nb::str(pipeline_of(f, here()).loop_nest(here()).c_str()),
                                    "end"_a = "");
             })
        .def("schedule_as_cpp", [](C &f) { return pipeline_of(f, here()).schedule_as_cpp(here()); })
        .def(
            "schedule_as_python",
            [](C &f) { return pipeline_of(f, here()).schedule_as_python(here()); },
            "Returns the schedule as Python that runs where `pipeline` is a Pipeline of the same "
            "algorithm.")
        .def("schedule_as_json",
             [](C &f) { return pipeline_of(f, here()).schedule_as_json(here()); })
        .def(
            "apply_schedule",
            [](C &f, const std::string &json) {
                pipeline_of(f, here()).apply_schedule(json, {}, here());
            },
            "json"_a)
        .def("infer_arguments",
             [](C &f) { return pipeline_of(f, here()).infer_arguments(here()); });
}

template<typename C> void define_execution(nb::class_<C> &c) {
    c.def(
         "realize",
         [](C &f, nb::handle sizes, const Target &target) {
             return realize(pipeline_of(f, here()),
                            sizes.is_none() ? nb::handle(nb::list()) : sizes, target);
         },
         "sizes"_a = nb::list(), "target"_a = Target(),
         "Computes the outputs over [0, size) in each dimension, dimension 0 first, and returns a "
         "Buffer, or a tuple of Buffers; or writes into a Buffer, an "
         "array, or a list of these.")
        .def(
            "infer_input_bounds",
            [](C &f, nb::handle sizes, const Target &target) {
                infer_input_bounds(pipeline_of(f, here()), sizes, target);
            },
            "sizes"_a, "target"_a = Target(),
            "Gives every ImageParam that has no Buffer one that is large enough.")
        .def(
            "compile_jit",
            [](C &f, const Target &target) {
                const Location at = here();
                nb::gil_scoped_release no_gil;
                pipeline_of(f, at).compile_jit(target, at);
            },
            "target"_a = Target(), "Compiles now what realize() would compile.")
        .def(
            "compile_to_callable",
            [](C &f, nb::handle arguments, const Target &target) {
                const Location at = here();
                const std::vector<Argument> args = to_arguments(arguments);
                nb::gil_scoped_release no_gil;
                return pipeline_of(f, at).compile_to_callable(args, target, at);
            },
            "arguments"_a, "target"_a = Target(),
            "Returns a function that takes these arguments, and then the outputs.")
        .def(
            "add_requirement",
            [](C &f, const ExprLike &condition, nb::args message) {
                pipeline_of(f, here()).add_requirement(WrittenExpr(condition.get(), here()),
                                                       to_exprs(message));
            },
            "condition"_a, "message"_a,
            "Requires that the caller meets the condition; else the pipeline fails with the "
            "message.");
    define_search(c);
    define_texts(c);
}

void bind_callable(nb::module_ &m) {
    nb::enum_<Argument::Kind>(m, "ArgumentKind")
        .value("InputScalar", Argument::InputScalar)
        .value("InputBuffer", Argument::InputBuffer)
        .value("OutputBuffer", Argument::OutputBuffer);
    nb::class_<Argument>(m, "Argument", "An argument of a compiled pipeline.")
        .def(
            "__init__",
            [](Argument *a, const std::string &name, Argument::Kind kind, const TypeLike &type,
               int dimensions) { new (a) Argument(name, kind, type.get(), dimensions); },
            "name"_a, "kind"_a, "type"_a, "dimensions"_a)
        .def("is_buffer", &Argument::is_buffer)
        .def("is_scalar", &Argument::is_scalar)
        .def("is_input", &Argument::is_input)
        .def("is_output", &Argument::is_output)
        .def_ro("name", &Argument::name)
        .def_ro("kind", &Argument::kind)
        .def_ro("type", &Argument::type)
        .def_ro("dimensions", &Argument::dimensions)
        .def("__repr__", [](const Argument &a) {
            return str("<Argument ", a.name, ": ",
                       a.is_buffer() ? str(int(a.dimensions), " dimensions of ") : "", a.type,
                       a.is_output() ? ", output>" : ">");
        });
    nb::class_<Callable>(m, "Callable",
                         "A compiled pipeline: its inputs by position or name, then a Buffer or "
                         "array for each output.")
        .def("__call__", &call)
        .def_prop_ro(
            "arguments", [](const Callable &c) { return c.arguments(); },
            "What a call takes, outputs last.")
        .def("__repr__", [](const Callable &c) {
            std::vector<std::string> names;
            for (const Argument &a : c.arguments()) names.push_back(a.name);
            return str("<Callable (", join(names), ")>");
        });
}

}  // namespace

void define_running(nb::class_<Func> &c) { define_execution(c); }

void bind_pipeline(nb::module_ &m) {
    bind_callable(m);
    nb::enum_<OutputFileType>(m, "OutputFileType",
                              "The kinds of files that can be written of a pipeline.")
        .value("assembly", OutputFileType::assembly)
        .value("bitcode", OutputFileType::bitcode)
        .value("c_header", OutputFileType::c_header)
        .value("c_source", OutputFileType::c_source)
        .value("conceptual_stmt", OutputFileType::conceptual_stmt)
        .value("device_code", OutputFileType::device_code)
        .value("function_info_header", OutputFileType::function_info_header)
        .value("llvm_assembly", OutputFileType::llvm_assembly)
        .value("object", OutputFileType::object)
        .value("registration", OutputFileType::registration)
        .value("schedule", OutputFileType::schedule)
        .value("static_library", OutputFileType::static_library)
        .value("stmt", OutputFileType::stmt)
        .value("stmt_html", OutputFileType::stmt_html);
    nb::class_<Pipeline> c(m, "Pipeline", "One or several Funcs to be computed together.");
    c.def(
         "__init__",
         [](Pipeline *p, nb::handle outputs) {
             std::vector<Func> funcs;
             for (const nb::object &f : items(outputs)) funcs.push_back(to_func(f));
             new (p) Pipeline(funcs, here());
         },
         "outputs"_a)
        .def("outputs", [](const Pipeline &p) { return p.outputs(here()); })
        .def(
            "get_func", [](const Pipeline &p, size_t i) { return p.get_func(i, here()); },
            "index"_a)
        .def(
            "get_param",
            [](const Pipeline &p, const std::string &name) { return p.get_param(name, here()); },
            "name"_a, "Returns the parameter of this name as an expression.")
        .def(
            "get_image_param",
            [](const Pipeline &p, const std::string &name) {
                return p.get_image_param(name, here());
            },
            "name"_a, "Returns the ImageParam of this name.")
        .def("invalidate_cache", [](Pipeline &p) { p.invalidate_cache(here()); })
        .def("trace_pipeline", [](Pipeline &p) { p.trace_pipeline(here()); });
    define_execution(c);
}

}  // namespace tessera::python
