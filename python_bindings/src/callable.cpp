#include "arrays.h"
#include "docs/params.h"
#include <typeinfo>

namespace tessera::python {
namespace {

// Up to N objects on the stack, or any number on the heap; they are made one after another.
template<typename T, size_t N> class FewOf {
public:
    explicit FewOf(size_t most)
        : place(most <= N ? reinterpret_cast<T *>(own)
                          : static_cast<T *>(::operator new(most * sizeof(T)))) {}
    ~FewOf() {
        for (size_t i = count; i-- > 0;) place[i].~T();
        if (place != reinterpret_cast<T *>(own)) ::operator delete(place);
    }
    FewOf(const FewOf &) = delete;
    FewOf &operator=(const FewOf &) = delete;

    template<typename... Args> T &add(Args &&...args) {
        T *made = new (static_cast<void *>(place + count)) T(std::forward<Args>(args)...);
        count++;
        return *made;
    }
    std::span<T> all() { return {place, count}; }

private:
    alignas(T) std::byte own[N * sizeof(T)];
    T *place;
    size_t count = 0;
};

constexpr size_t most_on_the_stack = 8;

const Buffer<> *as_buffer(nb::handle object) {
    static PyObject *type = nb::type<Buffer<>>().ptr();
    if (reinterpret_cast<PyObject *>(Py_TYPE(object.ptr())) == type ||
        nb::isinstance<Buffer<>>(object))
        return nb::inst_ptr<Buffer<>>(object);
    return nullptr;
}

// One call: the arguments as compiled code takes them, and what has to live as long.
class Call {
public:
    explicit Call(size_t arguments)
        : passed(arguments), views(arguments), buffers(arguments), on(current_stream()) {}

    void add(const Argument &wanted, size_t index, nb::handle given) {
        const auto which = [&wanted, index] {
            return str("argument ", index, " (", wanted.name, ")");
        };
        if (wanted.is_scalar()) {
            passed.add(wanted.type, number_bits(wanted.type, given, which));
        } else if (const Buffer<> *b = as_buffer(given)) {
            add_buffer(wanted, *b, which);
        } else {
            add_array(wanted, given, which);
        }
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
    template<typename Which>
    void check(const Argument &wanted, const tessera_buffer_t &b, bool read_only, Which which) {
        if (b.dimensions != wanted.dimensions || Type(b.type) != wanted.type)
            throw nb::type_error(str(which(), ": an array of shape ", shape_text(b), "; wanted ",
                                     int(wanted.dimensions),
                                     wanted.dimensions == 1 ? " dimension of " : " dimensions of ",
                                     wanted.type)
                                     .c_str());
        if (read_only && wanted.is_output())
            throw nb::type_error(
                str(which(), ": an output is written to, and this array is read-only").c_str());
    }

    template<typename Which> void add_buffer(const Argument &wanted, const Buffer<> &b,
                                             Which which) {
        if (!b.defined()) throw nb::type_error(str(which(), ": an undefined Buffer").c_str());
        BufferContents &c = b.contents();
        const SharedMemory *shared =
            wanted.is_output() || c.raw.device ? shared_memory(c) : nullptr;
        check(wanted, c.raw, shared && shared->is_read_only, which);
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

    template<typename Which> void add_array(const Argument &wanted, nb::handle given, Which which) {
        ArrayView &view = views.add();
        if (!read_array(given, Use::Call, true, which, view))
            throw nb::type_error(
                str(which(), ": a ", class_of(given), " is no Buffer and no array").c_str());
        check(wanted, view.raw, view.is_read_only, which);
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
    ArrayStream on;
    bool uses_gpu = false;
};

// Names of the program's own may end in `$` and a number, which nobody writes.
bool is_name(const Argument &argument, nb::handle key) {
    const std::string given = nb::cast<std::string>(key);
    const std::string_view name = argument.name;
    return name == given || name.substr(0, name.find('$')) == given;
}

// Returns the value of a keyword; null if there is none.
PyObject *find(PyObject *keywords, const Argument &argument) {
    if (!keywords) return nullptr;
    if (PyObject *found = PyDict_GetItemString(keywords, argument.name.c_str())) return found;
    PyObject *key = nullptr, *value = nullptr;
    Py_ssize_t at = 0;
    while (PyDict_Next(keywords, &at, &key, &value)) {
        if (is_name(argument, key)) return value;
    }
    return nullptr;
}

[[noreturn]] void refuse(const std::string &why) { throw nb::type_error(why.c_str()); }

std::string signature(const Callable &c) {
    std::vector<std::string> names;
    for (const Argument &a : c.arguments()) names.push_back(a.name);
    return str("(", join(names), ")");
}

// Calls with arguments by position, then by name. Outputs are passed, as inputs are.
void call(const Callable &callable, PyObject *args, PyObject *keywords) {
    const std::vector<Argument> &wanted = callable.arguments();
    const size_t by_position = size_t(PyTuple_Size(args));
    if (by_position > wanted.size())
        refuse(str("the Callable takes ", wanted.size(), " arguments, ", signature(callable),
                   ", not ", by_position));
    size_t by_name = 0;
    Call call(wanted.size());
    for (size_t i = 0; i < wanted.size(); i++) {
        PyObject *given =
            i < by_position ? PyTuple_GetItem(args, Py_ssize_t(i)) : find(keywords, wanted[i]);
        if (!given)
            refuse(str("argument ", i, " (", wanted[i].name, ") of ", signature(callable),
                       " is missing"));
        if (i >= by_position) by_name++;
        call.add(wanted[i], i, given);
    }
    if (keywords && by_name < size_t(PyDict_Size(keywords)))
        refuse(
            str("an argument is given twice, or has a name that is not in ", signature(callable)));
    call.run(callable);
}

// The user's line is looked for only if something fails.
PyObject *call_slot(PyObject *self, PyObject *args, PyObject *keywords) noexcept {
    try {
        try {
            call(*nb::inst_ptr<Callable>(self), args, keywords);
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
    Py_IncRef(Py_None);
    return Py_None;
}

const PyType_Slot callable_slots[] = {{Py_tp_call, reinterpret_cast<void *>(call_slot)},
                                      {0, nullptr}};

// For help() and inspect.
nb::object signature_object(const Callable &c) {
    const nb::module_ inspect = nb::module_::import_("inspect");
    const nb::object parameter = inspect.attr("Parameter");
    nb::list parameters;
    for (const Argument &a : c.arguments()) {
        const nb::str name(a.name.substr(0, a.name.find('$')).c_str());
        if (!nb::cast<bool>(name.attr("isidentifier")())) return nb::none();
        parameters.append(parameter(name, parameter.attr("POSITIONAL_OR_KEYWORD")));
    }
    return inspect.attr("Signature")(parameters);
}

void bind_argument(nb::module_ &m) {
    nb::class_<ArgumentEstimates>(m, "ArgumentEstimates", docs::estimates::class_)
        .def(nb::init<>(), docs::estimates::init)
        .def_rw("scalar_def", &ArgumentEstimates::scalar_def, docs::estimates::scalar_def)
        .def_rw("scalar_min", &ArgumentEstimates::scalar_min, docs::estimates::scalar_min)
        .def_rw("scalar_max", &ArgumentEstimates::scalar_max, docs::estimates::scalar_max)
        .def_rw("scalar_estimate", &ArgumentEstimates::scalar_estimate,
                docs::estimates::scalar_estimate)
        .def_rw("buffer_estimates", &ArgumentEstimates::buffer_estimates,
                docs::estimates::buffer_estimates);
    nb::class_<Argument>(m, "Argument", docs::argument::class_)
        .def(
            "__init__",
            [](Argument *a, const std::string &name, Argument::Kind kind, const TypeLike &type,
               int dimensions, const ArgumentEstimates &estimates) {
                new (a) Argument(name, kind, type.get(), dimensions, estimates);
            },
            "name"_a, "kind"_a, "type"_a, "dimensions"_a = 0,
            "argument_estimates"_a = ArgumentEstimates(), docs::argument::init)
        .def(
            "__init__",
            [](Argument *a, nb::handle of) {
                const std::vector<Argument> list = to_arguments(nb::make_tuple(of));
                new (a) Argument(list[0]);
            },
            "of"_a, docs::argument::of)
        .def("is_buffer", &Argument::is_buffer, docs::argument::is_buffer)
        .def("is_scalar", &Argument::is_scalar, docs::argument::is_scalar)
        .def("is_input", &Argument::is_input, docs::argument::is_input)
        .def("is_output", &Argument::is_output, docs::argument::is_output)
        .def_ro("name", &Argument::name, docs::argument::name)
        .def_ro("kind", &Argument::kind, docs::argument::kind)
        .def_ro("type", &Argument::type, docs::argument::type)
        .def_ro("dimensions", &Argument::dimensions, docs::argument::dimensions)
        .def_rw("argument_estimates", &Argument::argument_estimates,
                docs::argument::argument_estimates)
        .def("__repr__", [](const Argument &a) {
            return str("<Argument ", a.name, ": ",
                       a.is_buffer() ? str(int(a.dimensions), " dimensions of ") : "", a.type,
                       a.is_output() ? ", output>" : ">");
        });
}

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
        .def_prop_ro("__signature__", &signature_object)
        .def("__copy__", [](const Callable &c) { return c; })
        .def("__reduce__",
             [](const Callable &) -> nb::object {
                 throw nb::type_error("a Callable is not sent to other processes: send the "
                                      "function that builds it, or compile_to_static_library()");
             })
        .def("__repr__", [](const Callable &c) { return str("<Callable ", signature(c), ">"); });
    define_handlers(callable);
}

}  // namespace tessera::python
