#include "base/places_in_messages.h"
#include "bindings.h"

namespace tessera::python {
namespace {

// Returns the file and the line; None and None where nothing is known.
nb::tuple as_tuple(const Location &at) {
    if (!at.known()) return nb::make_tuple(nb::none(), nb::none());
    return nb::make_tuple(at.file, at.line);
}

// Raises the class of this name of tessera._errors.
void raise(const char *name, const Error &e) {
    const nb::object type = nb::module_::import_("tessera._errors").attr(name);
    const nb::object value = type(nb::str(e.what()), *as_tuple(e.where()));
    PyErr_SetObject(type.ptr(), value.ptr());
}

// Warnings of the compiler are Python's, with the line that they are about.
void warn(const std::string &text) {
    nb::gil_scoped_acquire gil;
    nb::module_::import_("tessera._errors")
        .attr("warn")(nb::str(text.c_str()), *as_tuple(place_in(text)));
}

// One for all threads, which no count keeps alive: it is at hand in every call.
std::shared_ptr<const Handlers> handlers_of_python() {
    static const auto *handlers = new Handlers{warn, {}};
    return {std::shared_ptr<void>(), handlers};
}

thread_local std::exception_ptr raised;

}  // namespace

PythonHandlers::PythonHandlers() : handlers(handlers_of_python()) {}

nb::object argument_error() {
    return nb::module_::import_("tessera._errors").attr("ArgumentError");
}

void refuse_argument(const std::string &why) { throw ArgumentRefused(why); }

PyObject *raise_current() noexcept {
    try {
        throw;
    } catch (nb::python_error &e) {
        e.restore();
    } catch (...) {
        // A function of nanobind's throws it again, and nanobind translates it.
        raised = std::current_exception();
        PyObject *module = PyImport_ImportModule("tessera._tessera");
        Py_XDECREF(module ? PyObject_CallMethod(module, "_raise", nullptr) : nullptr);
        Py_XDECREF(module);
    }
    return nullptr;
}

void bind_errors(nb::module_ &m) {
    nb::register_exception_translator([](const std::exception_ptr &p, void *) {
        try {
            std::rethrow_exception(p);
        } catch (const nb::cast_error &) {
            PyErr_SetString(PyExc_TypeError, "an item of a list or a value has another type than "
                                             "is wanted there");
        } catch (const ArgumentRefused &e) {
            PyErr_SetString(argument_error().ptr(), e.what());
        } catch (const CompileError &e) {
            raise("CompileError", e);
        } catch (const RuntimeError &e) {
            raise("RunError", e);
        } catch (const InternalError &e) {
            raise("InternalError", e);
        } catch (const Error &e) {
            raise("Error", e);
        }
    });
    m.def("_raise", [] { std::rethrow_exception(std::exchange(raised, nullptr)); });
}

}  // namespace tessera::python
