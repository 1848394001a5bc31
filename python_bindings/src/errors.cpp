#include "bindings.h"

namespace tessera::python {
namespace {

// Raises the class of this name of tessera._errors, which finds the line in the message.
void raise(const char *name, const std::exception &e) {
    const nb::object type = nb::module_::import_("tessera._errors").attr(name);
    const nb::object value = type(nb::str(e.what()));
    PyErr_SetObject(type.ptr(), value.ptr());
}

// Warnings of the compiler are Python's, with the line that they are about.
void warn(const std::string &text) {
    nb::gil_scoped_acquire gil;
    nb::module_::import_("tessera._errors").attr("warn")(nb::str(text.c_str()));
}

}  // namespace

void bind_errors(nb::module_ &m) {
    nb::register_exception_translator([](const std::exception_ptr &p, void *) {
        try {
            std::rethrow_exception(p);
        } catch (const nb::cast_error &) {
            PyErr_SetString(PyExc_TypeError, "an item of a list or a value has another type than "
                                             "is wanted there");
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
    set_warning_handler(warn);
    // Handlers of Python's must not be called when it has ended.
    m.def("_unset_handlers", [] {
        set_warning_handler({});
        JITSharedRuntime::set_default_handlers({});
    });
}

}  // namespace tessera::python
