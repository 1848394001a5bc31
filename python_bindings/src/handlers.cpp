#include "bindings.h"
#include "docs/pipeline.h"
#include "docs/running.h"
#include <atomic>
#include <cstring>

// Handlers of what a pipeline prints, traces and fails with, as Python callables. They are
// attributes of the object that runs: Python's collector sees them.
namespace tessera::python {
namespace {

using Context = RunContext::Context;

// An event of a trace, as long as the handler keeps it.
struct TraceEvent {
    std::string func, trace_tag;
    tessera_trace_event_code_t event;
    Type type;
    nb::object coordinates, value;
    int parent_id, value_index, thread_id;
};

const std::pair<const char *, tessera_trace_event_code_t> event_names[] = {
    {"load", tessera_trace_load},
    {"store", tessera_trace_store},
    {"begin_realization", tessera_trace_begin_realization},
    {"end_realization", tessera_trace_end_realization},
    {"produce", tessera_trace_produce},
    {"end_produce", tessera_trace_end_produce},
    {"consume", tessera_trace_consume},
    {"end_consume", tessera_trace_end_consume},
    {"begin_pipeline", tessera_trace_begin_pipeline},
    {"end_pipeline", tessera_trace_end_pipeline},
    {"tag", tessera_trace_tag},
    {"begin_parallel_task", tessera_trace_begin_parallel_task},
    {"end_parallel_task", tessera_trace_end_parallel_task},
};

TraceEvent event_of(const tessera_trace_event_t &e) {
    nb::list coordinates, value;
    for (int i = 0; i < e.dimensions; i++) coordinates.append(e.coordinates[i]);
    const Type type(e.type);
    for (int i = 0; e.value && i < type.lanes(); i++)
        value.append(number_at(type.element_of(), e.value, i));
    return {e.func ? e.func : "",
            e.trace_tag ? e.trace_tag : "",
            tessera_trace_event_code_t(e.event),
            type,
            nb::tuple(coordinates),
            nb::tuple(value),
            e.parent_id,
            e.value_index,
            e.thread_id};
}

nb::object text(const char *bytes) {
    return nb::steal(
        PyUnicode_DecodeUTF8(bytes, static_cast<Py_ssize_t>(std::strlen(bytes)), "replace"));
}

void print(JITUserContext *c, const char *message) {
    nb::gil_scoped_acquire gil;
    static_cast<Context *>(c)->print(text(message));
}
void fail(JITUserContext *c, const char *message) {
    nb::gil_scoped_acquire gil;
    static_cast<Context *>(c)->error(text(message));
}
// Each event has a number, by which those within it name it, unless the handler returns one.
int32_t trace(JITUserContext *c, const tessera_trace_event_t *event) {
    static std::atomic<int32_t> last_id{0};
    const int32_t id = ++last_id;
    nb::gil_scoped_acquire gil;
    const nb::object answer = static_cast<Context *>(c)->trace(nb::cast(event_of(*event)));
    return PyLong_Check(answer.ptr()) ? nb::cast<int32_t>(answer) : id;
}

// Prints where Python's own print() does, into a notebook for example.
void print_as_python(JITUserContext *, const char *message) {
    nb::gil_scoped_acquire gil;
    const nb::object out = nb::module_::import_("sys").attr("stdout");
    if (!out.is_none()) out.attr("write")(text(message));
}

constexpr const char *attributes[] = {"_on_print", "_on_trace", "_on_error"};
std::atomic<bool> any_handler = false;  // has ever been set, by anybody

nb::object handler(nb::handle owner, const char *attribute) {
    return owner.is_valid() ? nb::getattr(owner, attribute, nb::none()) : nb::none();
}

void define(nb::class_<Context> &c, const char *name, const char *attribute, const char *doc) {
    c.def(
        name,
        [attribute](nb::handle self, nb::handle f) {
            if (!f.is_none() && !PyCallable_Check(f.ptr()))
                throw nb::type_error(str("a ", class_of(f), " cannot be called").c_str());
            nb::setattr(self, attribute, f);
            any_handler = true;
            return nb::borrow(self);
        },
        "handler"_a.none(), doc);
}

}  // namespace

RunContext::RunContext(nb::handle owner, nb::handle given) {
    context.handlers.custom_print = print_as_python;
    if (!any_handler) return;
    const auto find = [&](const char *attribute) {
        const nb::object own = handler(given, attribute);
        return own.is_none() ? handler(owner, attribute) : own;
    };
    context.print = find("_on_print");
    context.trace = find("_on_trace");
    context.error = find("_on_error");
    if (!context.print.is_none()) context.handlers.custom_print = print;
    if (!context.trace.is_none()) context.handlers.custom_trace = trace;
    if (!context.error.is_none()) context.handlers.custom_error = fail;
}

RunContext::RunContext(const Callable &callable)
    : RunContext(any_handler ? nb::find(callable) : nb::object()) {}

RunContext::RunContext(const ArrayStream &s) {
    context.handlers.custom_print = print_as_python;
    set_stream(s);
}

bool RunContext::any_handlers() { return any_handler; }

void copy_handlers(nb::handle from, nb::handle to) {
    if (!any_handler) return;
    for (const char *a : attributes) {
        const nb::object h = handler(from, a);
        if (!h.is_none()) nb::setattr(to, a, h);
    }
}

void define_handlers(nb::object type) {
    auto &c = static_cast<nb::class_<Context> &>(type);  // only its def() is used
    define(c, "on_print", "_on_print", docs::pipeline::on_print);
    define(c, "on_trace", "_on_trace", docs::pipeline::on_trace);
    define(c, "on_error", "_on_error", docs::pipeline::on_error);
}

void bind_handlers(nb::module_ &m) {
    nb::enum_<tessera_trace_event_code_t> codes(m, "TraceEventCode", docs::running::event_code);
    for (const auto &[name, code] : event_names) codes.value(name, code);
    nb::class_<TraceEvent>(m, "TraceEvent", docs::event::class_)
        .def_ro("func", &TraceEvent::func, docs::event::func)
        .def_ro("event", &TraceEvent::event, docs::event::event)
        .def_ro("type", &TraceEvent::type, docs::event::type)
        .def_ro("value", &TraceEvent::value, docs::event::value)
        .def_ro("coordinates", &TraceEvent::coordinates, docs::event::coordinates)
        .def_ro("value_index", &TraceEvent::value_index, docs::event::value_index)
        .def_ro("parent_id", &TraceEvent::parent_id, docs::event::parent_id)
        .def_ro("thread_id", &TraceEvent::thread_id, docs::event::thread_id)
        .def_ro("trace_tag", &TraceEvent::trace_tag, docs::event::trace_tag)
        .def("__repr__", [](const TraceEvent &e) {
            return str("<TraceEvent ", event_names[e.event].first, " of ", e.func, ">");
        });
    nb::class_<JITUserContext> context(m, "JITUserContext", nb::dynamic_attr(),
                                       docs::running::jit_user_context);
    context.def(nb::init<>());
    define_handlers(context);
    m.def("set_num_threads", &JITSharedRuntime::set_num_threads, "n"_a,
          docs::running::set_num_threads);
    m.def("get_num_threads", &JITSharedRuntime::get_num_threads, docs::running::get_num_threads);
    m.def("reuse_device_allocations", &JITSharedRuntime::reuse_device_allocations, "on"_a,
          docs::running::reuse_device_allocations);
    m.def(
        "release_all",
        [] {
            nb::gil_scoped_release no_gil;
            JITSharedRuntime::release_all();
        },
        docs::running::release_all);
}

}  // namespace tessera::python
