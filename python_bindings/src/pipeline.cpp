#include "arrays.h"

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
    if (r.size() == 1) return nb::cast(Buffer<>(r[0]));
    nb::list list;
    for (size_t i = 0; i < r.size(); i++) list.append(nb::cast(r[i]));
    return nb::tuple(list);
}

// Returns the sizes, if that is what the object lists: numbers, and nothing else.
std::optional<std::vector<int32_t>> as_sizes(nb::handle what) {
    const bool is_list = PyList_Check(what.ptr());
    if (!is_list && !PyTuple_Check(what.ptr())) return {};
    const Py_ssize_t n = is_list ? PyList_Size(what.ptr()) : PyTuple_Size(what.ptr());
    std::vector<int32_t> sizes;
    sizes.reserve(size_t(n));
    for (Py_ssize_t i = 0; i < n; i++) {
        const nb::handle size =
            is_list ? PyList_GetItem(what.ptr(), i) : PyTuple_GetItem(what.ptr(), i);
        if (!PyIndex_Check(size.ptr())) return {};
        sizes.push_back(nb::cast<int32_t>(nb::int_(size)));
    }
    return sizes;
}
std::vector<Buffer<>> to_outputs(nb::handle what) {
    std::vector<Buffer<>> outputs;
    if (nb::isinstance<Buffer<>>(what)) {
        outputs.push_back(to_buffer(what, "output 0", true, "", true));
        return outputs;
    }
    for (const nb::object &b : items(what))
        outputs.push_back(
            to_buffer(b, [&] { return str("output ", outputs.size()); }, true, "", true));
    return outputs;
}

// Does something with the GIL released, at the user's line, which is looked for only if it fails.
template<typename F> void without_gil(F f) {
    try {
        nb::gil_scoped_release no_gil;
        f();
    } catch (const CompileError &e) {
        if (typeid(e) != typeid(CompileError)) throw;
        throw CompileError(here(), e.what());
    } catch (const RuntimeError &e) {
        if (typeid(e) != typeid(RuntimeError)) throw;
        throw RuntimeError(here(), e.what());
    }
}

// The stream of the outputs' library, unless the thread has one.
ArrayStream stream_for(const std::vector<Buffer<>> &outputs) {
    ArrayStream stream = current_stream();
    for (const Buffer<> &b : outputs) {
        const BufferContents &c = b.contents();
        const SharedMemory *shared = c.raw.device ? shared_memory(c) : nullptr;
        if (!stream.known && shared) stream = shared->stream;
    }
    return stream;
}

nb::object realize(Pipeline p, nb::handle what, const Target &target) {
    if (const auto sizes = as_sizes(what)) {
        StreamContext context(current_stream());
        std::optional<Realization> result;
        without_gil([&] { result = p.realize(context.get(), *sizes, target, {}); });
        return of_realization(*result);
    }
    const std::vector<Buffer<>> outputs = to_outputs(what);
    StreamContext context(stream_for(outputs));
    without_gil([&] {
        p.realize(context.get(), RealizationArg(outputs), target, {});
        for (const Buffer<> &b : outputs) {
            if (b.device_dirty() && is_seen_on_host(b.contents()))
                b.contents().copy_to_host(context.get(), {});
        }
    });
    return nb::none();
}

void infer_input_bounds(Pipeline p, nb::handle what, const Target &target) {
    const Location at = here();
    if (const auto sizes = as_sizes(what)) return p.infer_input_bounds(*sizes, target, at);
    p.infer_input_bounds(RealizationArg(to_outputs(what)), target, at);
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
             return realize(pipeline_of(f, {}), sizes.is_none() ? nb::handle(nb::list()) : sizes,
                            target);
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
            "message.")
        .def(
            "apply_autoscheduler",
            [](C &f, const Target &target, const AutoschedulerParams &params) {
                const Location at = here();
                nb::gil_scoped_release no_gil;
                return pipeline_of(f, at).apply_autoscheduler(target, params, at);
            },
            "target"_a, "params"_a = AutoschedulerParams(),
            "Schedules the pipeline by the autoscheduler that the parameters name.");
    define_texts(c);
}

}  // namespace

void define_running(nb::class_<Func> &c) { define_execution(c); }

void bind_pipeline(nb::module_ &m) {
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
    nb::class_<AutoschedulerParams>(m, "AutoschedulerParams",
                                    "The name of an autoscheduler, and its options.")
        .def(
            "__init__",
            [](AutoschedulerParams *p, const std::string &name, const nb::dict &options) {
                std::map<std::string, std::string> texts;
                for (auto [key, value] : options) texts[text_of(key)] = text_of(value);
                new (p) AutoschedulerParams(name, texts);
            },
            "name"_a = "", "options"_a = nb::dict());
    nb::class_<AutoSchedulerResults>(m, "AutoSchedulerResults")
        .def_ro("schedule_source", &AutoSchedulerResults::schedule_source);
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
        .def("invalidate_cache", [](Pipeline &p) { p.invalidate_cache(here()); })
        .def("trace_pipeline", [](Pipeline &p) { p.trace_pipeline(here()); });
    define_execution(c);
}

}  // namespace tessera::python
