#include "bindings.h"

namespace tessera::python {
namespace {

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

// `owner`: the object that has the handlers; `given`: a JITUserContext, or None.
nb::object realize(Pipeline p, nb::handle what, const Target &target, nb::handle owner,
                   nb::handle given) {
    const Location at = here();
    RunContext context(owner, given);
    if (are_sizes(what)) {
        const auto sizes = nb::cast<std::vector<int32_t>>(what);
        std::optional<Realization> result;
        {
            nb::gil_scoped_release no_gil;
            result = p.realize(context.get(), sizes, target, at);
            // Python reads the elements by address.
            for (Buffer<> &b : *result) b.copy_to_host(nullptr, at);
        }
        return of_realization(*result);
    }
    std::vector<Buffer<>> outputs = to_outputs(what);
    {
        nb::gil_scoped_release no_gil;
        p.realize(context.get(), RealizationArg(outputs), target, at);
        for (Buffer<> &b : outputs) b.copy_to_host(nullptr, at);
    }
    return nb::none();
}

void infer_input_bounds(Pipeline p, nb::handle what, const Target &target, nb::handle owner) {
    const Location at = here();
    RunContext context(owner);
    if (are_sizes(what)) {
        const auto sizes = nb::cast<std::vector<int32_t>>(what);
        nb::gil_scoped_release no_gil;
        return p.infer_input_bounds(context.get(), sizes, target, at);
    }
    const std::vector<Buffer<>> outputs = to_outputs(what);
    nb::gil_scoped_release no_gil;
    p.infer_input_bounds(context.get(), RealizationArg(outputs), target, at);
}

// ---- Callable ----

// Calls with arguments by position, then by name. Outputs are passed, as inputs are.
void call(const Callable &callable, nb::args args, nb::kwargs kwargs) {
    const Location at = here();
    RunContext context(callable);
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
    callable.call(passed, context.get(), at);
    for (Buffer<> &b : buffers) {
        if (b.device_dirty()) b.copy_to_host(nullptr, at);
    }
}

template<typename C> void define_execution(nb::class_<C> &c) {
    c.def(
         "realize",
         [](nb::handle self, nb::handle sizes, const Target &target, nb::handle context) {
             return realize(pipeline_of(nb::cast<C &>(self), here()), sizes, target, self, context);
         },
         "sizes"_a = nb::list(), "target"_a = Target(), "context"_a = nb::none(),
         "Computes the outputs over [0, size) in each dimension, dimension 0 first, and returns a "
         "Buffer, or a tuple of Buffers; or writes into a Buffer, an array, or a list of these. "
         "context: a JITUserContext with handlers for this call.")
        .def(
            "infer_input_bounds",
            [](nb::handle self, nb::handle sizes, const Target &target) {
                infer_input_bounds(pipeline_of(nb::cast<C &>(self), here()), sizes, target, self);
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
            [](nb::handle self, nb::handle arguments, const Target &target) {
                const Location at = here();
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
                    "Target()) -> Callable"))
        .def(
            "add_requirement",
            [](nb::handle self, const ExprLike &condition, nb::args message) {
                const Location at = here();
                const std::vector<Expr> said = to_message(
                    message.size() == 1 && is_tuple(message[0]) ? message[0] : nb::handle(message));
                pipeline_of(nb::cast<C &>(self), at)
                    .add_requirement(WrittenExpr(condition.get(), at), said);
                return nb::borrow(self);
            },
            "condition"_a, "message"_a,
            "Requires that the caller meets the condition; else the pipeline fails with the "
            "message: texts and expressions.")
        .def(
            "apply_autoscheduler",
            [](C &f, const Target &target, const AutoschedulerParams &params) {
                const Location at = here();
                nb::gil_scoped_release no_gil;
                return pipeline_of(f, at).apply_autoscheduler(target, params, at);
            },
            "target"_a, "params"_a = AutoschedulerParams(),
            "Schedules the pipeline by the autoscheduler that the parameters name.");
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

void bind_callable(nb::module_ &m) {
    nb::class_<ArgumentEstimates>(m, "ArgumentEstimates",
                                  "The properties of an argument beside its type.")
        .def(nb::init<>())
        .def_rw("scalar_def", &ArgumentEstimates::scalar_def)
        .def_rw("scalar_min", &ArgumentEstimates::scalar_min)
        .def_rw("scalar_max", &ArgumentEstimates::scalar_max)
        .def_rw("scalar_estimate", &ArgumentEstimates::scalar_estimate)
        .def_rw("buffer_estimates", &ArgumentEstimates::buffer_estimates);
    nb::class_<Argument>(m, "Argument", "An argument of a compiled pipeline.")
        .def(
            "__init__",
            [](Argument *a, const std::string &name, Argument::Kind kind, const TypeLike &type,
               int dimensions, const ArgumentEstimates &estimates) {
                new (a) Argument(name, kind, type.get(), dimensions, estimates);
            },
            "name"_a, "kind"_a, "type"_a, "dimensions"_a = 0,
            "argument_estimates"_a = ArgumentEstimates())
        .def(
            "__init__",
            [](Argument *a, nb::handle of) {
                const std::vector<Argument> list = to_arguments(nb::make_tuple(of));
                new (a) Argument(list[0]);
            },
            "of"_a, "Is what a Param, an ImageParam or a Buffer is as an argument.")
        .def("is_buffer", &Argument::is_buffer)
        .def("is_scalar", &Argument::is_scalar)
        .def("is_input", &Argument::is_input)
        .def("is_output", &Argument::is_output)
        .def_ro("name", &Argument::name)
        .def_ro("kind", &Argument::kind)
        .def_ro("type", &Argument::type)
        .def_ro("dimensions", &Argument::dimensions)
        .def_rw("argument_estimates", &Argument::argument_estimates)
        .def("__repr__", [](const Argument &a) {
            return str("<Argument ", a.name, ": ",
                       a.is_buffer() ? str(int(a.dimensions), " dimensions of ") : "", a.type,
                       a.is_output() ? ", output>" : ">");
        });
    nb::class_<Callable> callable(
        m, "Callable", nb::dynamic_attr(),
        "A compiled pipeline: its inputs by position or name, then a Buffer or "
        "array for each output.");
    callable.def("__call__", &call)
        .def("defined", &Callable::defined)
        .def_prop_ro(
            "arguments", [](const Callable &c) { return c.arguments(); },
            "What a call takes, outputs last.")
        .def("__repr__", [](const Callable &c) {
            std::vector<std::string> names;
            for (const Argument &a : c.arguments()) names.push_back(a.name);
            return str("<Callable (", join(names), ")>");
        });
    callable.def("__reduce__", &refuse_to_be_sent);
    define_handlers(callable);
}

void bind_autoscheduler(nb::module_ &m) {
    nb::class_<AutoschedulerParams>(m, "AutoschedulerParams",
                                    "The name of an autoscheduler, and its options.")
        .def(
            "__init__",
            [](AutoschedulerParams *p, const std::string &name, const nb::dict &options) {
                std::map<std::string, std::string> texts;
                for (auto [key, value] : options) texts[text_of(key)] = text_of(value);
                new (p) AutoschedulerParams(name, texts);
            },
            "name"_a = "", "options"_a = nb::dict())
        .def_rw("name", &AutoschedulerParams::name)
        .def_rw("extra", &AutoschedulerParams::extra)
        .def("to_string", &AutoschedulerParams::to_string,
             "Returns the options of a generator's command line.")
        .def("__getstate__",
             [](const AutoschedulerParams &p) { return std::pair(p.name, p.extra); })
        .def("__setstate__",
             [](AutoschedulerParams &p,
                const std::pair<std::string, std::map<std::string, std::string>> &state) {
                 new (&p) AutoschedulerParams(state.first, state.second);
             });
    nb::class_<AutoSchedulerResults>(m, "AutoSchedulerResults",
                                     "What an autoscheduler was asked, and what it found.")
        .def_ro("target", &AutoSchedulerResults::target)
        .def_ro("autoscheduler_params", &AutoSchedulerResults::autoscheduler_params)
        .def_rw("schedule_source", &AutoSchedulerResults::schedule_source, "The schedule as C++.")
        .def_prop_ro("featurization", [](const AutoSchedulerResults &r) {
            return nb::bytes(r.featurization.data(), r.featurization.size());
        });
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
    bind_callable(m);
    bind_autoscheduler(m);
    nb::class_<Pipeline> c(m, "Pipeline", nb::dynamic_attr(),
                           "One or several Funcs to be computed together.");
    c.def(
         "__init__",
         [](Pipeline *p, nb::handle outputs) {
             std::vector<Func> funcs;
             for (const nb::object &f : items(outputs)) funcs.push_back(to_func(f));
             new (p) Pipeline(funcs, here());
         },
         "outputs"_a, "Makes a pipeline of a Func, or of a list of them.")
        .def("defined", &Pipeline::defined)
        .def("outputs", [](const Pipeline &p) { return p.outputs(here()); })
        .def(
            "get_func", [](const Pipeline &p, size_t i) { return p.get_func(i, here()); },
            "index"_a)
        .def(
            "get_param",
            [](const Pipeline &p, const std::string &name) { return p.get_param(name, here()); },
            "name"_a, "Returns the Param of the algorithm that has this name.")
        .def(
            "get_image_param",
            [](const Pipeline &p, const std::string &name) {
                return p.get_image_param(name, here());
            },
            "name"_a, "Returns the ImageParam of the algorithm that has this name.")
        .def_static(
            "add_autoscheduler",
            [](const std::string &name, const nb::callable &f) {
                Pipeline::add_autoscheduler(name, to_autoscheduler(f));
            },
            "name"_a, "scheduler"_a,
            "Adds an autoscheduler: scheduler(pipeline, target, params) schedules the pipeline.")
        .def_static("set_default_autoscheduler_name", &Pipeline::set_default_autoscheduler_name,
                    "name"_a, "Sets the autoscheduler that is meant where none is named.")
        .def(
            "invalidate_cache", [](Pipeline &p) { p.invalidate_cache(here()); },
            "Forgets what has been compiled. Changes are noticed without it.")
        .def(
            "trace_pipeline", [](Pipeline &p) { p.trace_pipeline(here()); },
            "Traces the beginning and the end of the pipeline.")
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
