#include "callable.h"
#include "docs/params.h"
#include "few_of.h"
#include <optional>
#include <typeinfo>

namespace tessera::python {

const Buffer<> *as_buffer(nb::handle object) {
    static PyObject *type = nb::type<Buffer<>>().ptr();
    if (reinterpret_cast<PyObject *>(Py_TYPE(object.ptr())) == type ||
        nb::isinstance<Buffer<>>(object))
        return nb::inst_ptr<Buffer<>>(object);
    return nullptr;
}

void check_argument(const Argument &wanted, const tessera_buffer_t &b, bool read_only,
                    WhichArgument which) {
    if (b.dimensions != wanted.dimensions || Type(b.type) != wanted.type)
        throw nb::type_error(
            str(which, ": an array of shape ", shape_text(b), "; wanted ", wanted_text(wanted))
                .c_str());
    if (read_only && wanted.is_output())
        throw nb::type_error(
            str(which, ": an output is written to, and this array is read-only").c_str());
}

void read_argument(const Argument &wanted, nb::handle given, WhichArgument which, ArrayView &view) {
    if (!read_array(given, Use::Call, true, [&] { return str(which); }, view))
        throw nb::type_error(str(which, ": a ", class_of(given),
                                 " is no Buffer and no array; wanted ", wanted_text(wanted))
                                 .c_str());
    check_argument(wanted, view.raw, view.is_read_only, which);
}

uint64_t scalar_argument(const Argument &wanted, nb::handle given, WhichArgument which) {
    const auto what = [&] { return str(which); };
    if (given.is_valid()) return number_bits(wanted.type, given, what);
    return number_bits(wanted.type, constant_value(wanted.argument_estimates.scalar_def), what);
}

std::vector<int64_t> shape_argument(const Argument &wanted, nb::handle given, WhichArgument which) {
    std::vector<int64_t> shape;
    for (const nb::object &extent : items(given)) {
        if (!PyLong_Check(extent.ptr()))
            throw nb::type_error(
                str(which, ": a shape has whole numbers, and a ", class_of(extent), " is none")
                    .c_str());
        shape.push_back(nb::cast<int64_t>(extent));
    }
    if (shape.size() == wanted.dimensions) return shape;
    throw nb::type_error(
        str(which, ": the shape has ", shape.size(), " numbers; wanted ", wanted_text(wanted))
            .c_str());
}

namespace {

constexpr size_t most_on_the_stack = 8;

// One call: the arguments as compiled code takes them, and what has to live as long.
class Call {
public:
    explicit Call(size_t arguments)
        : passed(arguments), views(arguments), buffers(arguments), on(current_stream()) {}

    // `given`: invalid for a default.
    void add(const Argument &wanted, size_t index, nb::handle given) {
        const WhichArgument which{wanted, index};
        if (wanted.is_scalar()) {
            passed.add(wanted.type, scalar_argument(wanted, given, which));
        } else if (const Buffer<> *b = as_buffer(given)) {
            add_buffer(wanted, *b, which);
        } else if (wanted.is_output() && is_shape(given)) {
            add_array(wanted, allocate(wanted, given, which), which);
        } else {
            add_array(wanted, given, which);
        }
    }

    // Returns what has been allocated: one array, or a tuple.
    nb::object result() const {
        if (!made) return nb::none();
        return nb::len(*made) == 1 ? nb::object((*made)[0]) : nb::object(nb::tuple(*made));
    }

    void run(const Callable &callable) {
        const bool on_gpu = on.known || uses_gpu;
        RunContext context(callable);
        if (!on_gpu) return run_on(callable, context.get());
        order(true);
        context.set_stream(on);
        run_on(callable, context.get());
        order(false);
    }

private:
    nb::handle allocate(const Argument &wanted, nb::handle shape, WhichArgument which) {
        const nb::object numpy = nb::module_::import_("numpy");
        if (!made) made.emplace();
        made->append(numpy.attr("empty")(nb::cast(shape_argument(wanted, shape, which)),
                                         numpy_dtype(wanted.type)));
        return (*made)[nb::len(*made) - 1];
    }

    void add_buffer(const Argument &wanted, const Buffer<> &b, WhichArgument which) {
        if (!b.defined()) throw nb::type_error(str(which, ": an undefined Buffer").c_str());
        BufferContents &c = b.contents();
        const SharedMemory *shared =
            wanted.is_output() || c.raw.device ? shared_memory(c) : nullptr;
        check_argument(wanted, c.raw, shared && shared->is_read_only, which);
        if (c.raw.device) {
            uses_gpu = true;
            use_buffer_on_gpu(c, shared);
        }
        passed.add(&c.raw);
        buffers.add(&c);
    }

    // Others may have written to memory that they see.
    void use_buffer_on_gpu(BufferContents &c, const SharedMemory *shared) {
        if (!shared) return;
        if (shared->is_on_device) {
            if (!c.raw.host_dirty()) c.raw.set_device_dirty();
            use_stream(shared->stream);
        } else if (c.raw.host && !c.raw.device_dirty()) {
            c.raw.set_host_dirty();
        }
    }

    void add_array(const Argument &wanted, nb::handle given, WhichArgument which) {
        ArrayView &view = views.add();
        read_argument(wanted, given, which, view);
        if (view.is_on_device) {
            uses_gpu = true;
            use_stream(view.stream);
        }
        passed.add(&view.raw);
    }

    void use_stream(const ArrayStream &s) {
        if (!s.known) return;
        if (!on.known) on = s;
    }

    // Streams of arrays that are not the one of the call: it waits for them, or they for it.
    void order(bool before) {
        for (const ArrayView &view : views.all()) {
            if (!view.stream.known || view.stream.stream == on.stream) continue;
            before ? let_wait(on.stream, view.stream.stream)
                   : let_wait(view.stream.stream, on.stream);
        }
    }

    void run_on(const Callable &callable, JITUserContext *context) {
        nb::gil_scoped_release no_gil;
        callable.call(passed.all(), context, {});
        for (ArrayView &view : views.all()) {
            if (view.raw.device && !view.is_on_device) bring_back(view, context);
        }
        for (BufferContents *c : buffers.all()) {
            if (c->raw.device_dirty() && is_seen_on_host(*c)) c->copy_to_host(context, {});
        }
    }

    FewOf<CallableArgument, most_on_the_stack> passed;
    FewOf<ArrayView, most_on_the_stack> views;
    FewOf<BufferContents *, most_on_the_stack> buffers;
    std::optional<nb::list> made;
    ArrayStream on;
    bool uses_gpu = false;
};

// Calls with arguments by position, then by name. An output may be a shape: then it is allocated,
// and returned.
nb::object call(const Callable &callable, PyObject *args, PyObject *keywords) {
    GivenArguments given(callable, args, keywords);
    Call call(given.size());
    for (size_t i = 0; i < given.size(); i++) call.add(given.wanted(i), i, given.take(i));
    given.end();
    call.run(callable);
    return call.result();
}

// The user's line is looked for only if something fails.
PyObject *call_slot(PyObject *self, PyObject *args, PyObject *keywords) noexcept {
    try {
        try {
            return call(*nb::inst_ptr<Callable>(self), args, keywords).release().ptr();
        } catch (const RuntimeError &e) {
            if (typeid(e) != typeid(RuntimeError)) throw;
            throw RuntimeError(here(), e.what());
        }
    } catch (const nb::builtin_exception &e) {  // of an argument: those of handlers are Python's
        PyErr_SetString(argument_error().ptr(), e.what());
        return nullptr;
    } catch (...) {
        return raise_current();
    }
}

const PyType_Slot callable_slots[] = {{Py_tp_call, reinterpret_cast<void *>(call_slot)},
                                      {0, nullptr}};

}  // namespace

void bring_back(ArrayView &view, JITUserContext *context) {
    BufferContents c(view.raw, "array");
    c.device_ownership = BufferDeviceOwnership::Allocated;
    view.raw.device = 0;
    view.raw.device_interface = nullptr;
    c.copy_to_host(context, {});
}

void bind_callable(nb::module_ &m) {
    bind_argument(m);
    nb::class_<Callable> callable(m, "Callable", nb::dynamic_attr(),
                                  nb::type_slots(const_cast<PyType_Slot *>(callable_slots)),
                                  docs::callable::class_);
    callable.def("defined", &Callable::defined, docs::callable::defined)
        .def_prop_ro(
            "arguments", [](const Callable &c) { return c.arguments(); }, docs::callable::arguments)
        .def_prop_ro("name", &Callable::name, docs::callable::name)
        .def_prop_ro("target", &Callable::target, docs::callable::target)
        .def_prop_ro("__signature__", &signature_object)
        .def("__copy__", [](const Callable &c) { return c; })
        .def("__reduce__",
             [](const Callable &) -> nb::object {
                 throw nb::type_error("a Callable is not sent to other processes: send the "
                                      "function that builds it, or compile_to_static_library()");
             })
        .def("__repr__",
             [](const Callable &c) { return str("<Callable ", c.name(), signature_text(c), ">"); });
    define_bounds_query(callable);
    define_handlers(callable);
}

}  // namespace tessera::python
