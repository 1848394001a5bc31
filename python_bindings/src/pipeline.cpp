#include "docs/pipeline.h"
#include "arrays.h"

namespace tessera::python {
namespace {

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
        // Arrays have an index, too, for when they are of one element.
        if (!PyIndex_Check(size.ptr()) || PySequence_Check(size.ptr())) return {};
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
        if (e.where().known() || typeid(e) != typeid(CompileError)) throw;
        throw CompileError(here(), e.what());
    } catch (const RuntimeError &e) {
        if (e.where().known() || typeid(e) != typeid(RuntimeError)) throw;
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

// `owner`: the object that has the handlers; `given`: a JITUserContext, or None.
nb::object realize(Pipeline p, nb::handle what, const Target &target, nb::handle owner,
                   nb::handle given) {
    RunContext context(owner, given);
    if (const auto sizes = as_sizes(what)) {
        context.set_stream(current_stream());
        std::optional<Realization> result;
        without_gil([&] { result = p.realize(context.get(), *sizes, target, {}); });
        return of_realization(*result);
    }
    const std::vector<Buffer<>> outputs = to_outputs(what);
    context.set_stream(stream_for(outputs));
    without_gil([&] {
        p.realize(context.get(), RealizationArg(outputs), target, {});
        for (const Buffer<> &b : outputs) {
            if (b.device_dirty() && is_seen_on_host(b.contents()))
                b.contents().copy_to_host(context.get(), {});
        }
    });
    return nb::none();
}

void infer_input_bounds(Pipeline p, nb::handle what, const Target &target, nb::handle owner) {
    const Here at = here();
    RunContext context(owner);
    if (const auto sizes = as_sizes(what)) {
        nb::gil_scoped_release no_gil;
        return p.infer_input_bounds(context.get(), *sizes, target, at);
    }
    const std::vector<Buffer<>> outputs = to_outputs(what);
    nb::gil_scoped_release no_gil;
    p.infer_input_bounds(context.get(), RealizationArg(outputs), target, at);
}

template<typename C> void define_execution(nb::class_<C> &c) {
    c.def(
         "realize",
         [](nb::handle self, nb::handle sizes, const Target &target, nb::handle context) {
             return realize(pipeline_of(nb::cast<C &>(self), {}),
                            sizes.is_none() ? nb::handle(nb::list()) : sizes, target, self,
                            context);
         },
         "sizes"_a = nb::list(), "target"_a = Target(), "context"_a = nb::none(),
         docs::pipeline::realize)
        .def(
            "infer_input_bounds",
            [](nb::handle self, nb::handle sizes, const Target &target) {
                infer_input_bounds(pipeline_of(nb::cast<C &>(self), here()), sizes, target, self);
            },
            "sizes"_a, "target"_a = Target(), docs::pipeline::infer_input_bounds)
        .def(
            "compile_jit",
            [](C &f, const Target &target) {
                const Here at = here();
                nb::gil_scoped_release no_gil;
                pipeline_of(f, at).compile_jit(target, at);
            },
            "target"_a = Target(), docs::pipeline::compile_jit)
        .def(
            "compile_to_callable",
            [](nb::handle self, nb::handle arguments, const Target &target) {
                const Here at = here();
                Pipeline p = pipeline_of(nb::cast<C &>(self), at);
                const std::vector<Argument> args = to_arguments(arguments);
                std::optional<Callable> compiled;
                {
                    nb::gil_scoped_release no_gil;
                    compiled = p.compile_to_callable(args, target, at);
                }
                const nb::object callable = nb::cast(*compiled);
                copy_handlers(self, callable);
                return callable;
            },
            "arguments"_a, "target"_a = Target(),
            "Returns a function that takes these arguments, and then the outputs. It has the "
            "handlers that this object has now.",
            nb::sig("def compile_to_callable(self, arguments: object, target: Target = "
                    "Target()) -> Callable"),
            docs::pipeline::compile_to_callable)
        .def(
            "add_requirement",
            [](nb::handle self, const ExprLike &condition, nb::args message) {
                const Here at = here();
                const std::vector<Expr> said = to_message(
                    message.size() == 1 && is_tuple(message[0]) ? message[0] : nb::handle(message));
                pipeline_of(nb::cast<C &>(self), at)
                    .add_requirement(WrittenExpr(condition.get(), at), said);
                return nb::borrow(self);
            },
            "condition"_a, "message"_a, docs::pipeline::add_requirement);
    define_search(c);
    define_output(c);
    define_externs(c);
    define_handlers(c);
}

nb::object refuse_to_be_sent(nb::handle self) {
    throw nb::type_error(str("a ", class_of(self),
                             " is not sent to other processes: send the "
                             "function that builds it, or compile_to_static_library()")
                             .c_str());
}

// A Python function as an autoscheduler: f(pipeline, target, params) schedules the pipeline, and
// may return the schedule as text. It lives as long as the process.
AutoSchedulerFn to_autoscheduler(const nb::callable &f) {
    PyObject *kept = f.inc_ref().ptr();
    return [kept](const Pipeline &p, const Target &target, const AutoschedulerParams &params,
                  AutoSchedulerResults *results) {
        nb::gil_scoped_acquire gil;
        const nb::object text = nb::handle(kept)(p, target, params);
        if (nb::isinstance<nb::str>(text)) results->schedule_source = nb::cast<std::string>(text);
    };
}

}  // namespace

void define_running(nb::class_<Func> &c) { define_execution(c); }

void bind_pipeline(nb::module_ &m) {
    nb::class_<Pipeline> c(m, "Pipeline", nb::dynamic_attr(), docs::pipeline::class_);
    c.def(nb::init<>(), "Makes an undefined Pipeline.");
    c.def(
         "__init__",
         [](Pipeline *p, nb::handle outputs) {
             std::vector<Func> funcs;
             for (const nb::object &f : items(outputs)) funcs.push_back(to_func(f));
             new (p) Pipeline(funcs, here());
         },
         "outputs"_a, docs::pipeline::init)
        .def("defined", &Pipeline::defined, docs::pipeline::defined)
        .def(
            "outputs", [](const Pipeline &p) { return p.outputs(here()); }, docs::pipeline::outputs)
        .def(
            "get_func", [](const Pipeline &p, size_t i) { return p.get_func(i, here()); },
            "index"_a, docs::pipeline::get_func)
        .def(
            "get_param",
            [](const Pipeline &p, const std::string &name) { return p.get_param(name, here()); },
            "name"_a, docs::pipeline::get_param)
        .def(
            "get_image_param",
            [](const Pipeline &p, const std::string &name) {
                return p.get_image_param(name, here());
            },
            "name"_a, docs::pipeline::get_image_param)
        .def_static(
            "add_autoscheduler",
            [](const std::string &name, const nb::callable &f) {
                Pipeline::add_autoscheduler(name, to_autoscheduler(f));
            },
            "name"_a, "scheduler"_a, docs::pipeline::add_autoscheduler)
        .def_static("set_default_autoscheduler_name", &Pipeline::set_default_autoscheduler_name,
                    "name"_a, docs::pipeline::set_default_autoscheduler_name)
        .def(
            "invalidate_cache", [](Pipeline &p) { p.invalidate_cache(here()); },
            docs::pipeline::invalidate_cache)
        .def(
            "trace_pipeline", [](Pipeline &p) { p.trace_pipeline(here()); },
            docs::pipeline::trace_pipeline)
        .def("__reduce__", &refuse_to_be_sent)
        .def("__repr__", [](const Pipeline &p) {
            if (!p.defined()) return std::string("<undefined Pipeline>");
            std::vector<std::string> names;
            for (const Func &f : p.outputs(here())) names.push_back(f.name());
            return str("<Pipeline of ", join(names), ">");
        });
    define_execution(c);
}

}  // namespace tessera::python
