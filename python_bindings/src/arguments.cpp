#include "bindings.h"
#include <array>
#include <utility>

// Explains arguments that do not fit. nanobind lists all overloads; tessera._arguments
// says which argument it is, what came and what is wanted. It is asked after a call has failed, so
// that calls cost nothing more: an object that can be called has a pointer to the function that
// does it (PEP 590), and here stands one in front of nanobind's.
namespace tessera::python {
namespace {

using Vectorcall = PyObject *(*)(PyObject *, PyObject *const *, size_t, PyObject *);

// A function of nanobind's, as far as it matters here.
struct Function {
    PyVarObject head;
    Vectorcall call;
};

// nanobind has a few functions that call, by the kinds of arguments.
constexpr size_t most_kinds = 8;
std::array<Vectorcall, most_kinds> originals;

bool is_method(nb::handle f) { return class_of(f) == "nb_method"; }

// Returns what is to be said instead; none where the failure is another one.
nb::object explanation(nb::handle f, nb::handle failure, PyObject *const *args, size_t n,
                       nb::handle names) {
    const bool has_culprit = nb::hasattr(failure, "culprit");
    const std::string said = nb::cast<std::string>(failure.attr("__str__")());
    if (!has_culprit && said.find("(): incompatible function arguments") == said.npos)
        return nb::none();
    nb::list positional;
    // The object of a method is left out: that of a constructor is not made yet.
    for (size_t i = is_method(f) ? 1 : 0; i < n; i++) positional.append(nb::handle(args[i]));
    nb::dict named;
    for (size_t i = 0; names.is_valid() && i < nb::len(names); i++)
        named[names[i]] = nb::handle(args[n + i]);
    const nb::module_ words = nb::module_::import_("tessera._arguments");
    return has_culprit ? words.attr("blame")(f, is_method(f), positional, named, failure)
                       : words.attr("explain")(f, is_method(f), positional, named);
}

// Lets the exception that is set have another text.
void explain(PyObject *f, PyObject *const *args, size_t nargsf, PyObject *names) {
    // The upper bits are flags.
    const size_t n = nargsf & ((size_t(1) << 32) - 1);
    nb::python_error failure;
    try {
        const nb::object text = explanation(f, failure.value(), args, n, names);
        if (!text.is_none()) {
            PyErr_SetObject(argument_error().ptr(), text.ptr());
            return;
        }
    } catch (nb::python_error &) {
        // The explanation failed: nanobind's text stays.
    }
    failure.restore();
}

template<size_t kind>
PyObject *call(PyObject *f, PyObject *const *args, size_t nargsf, PyObject *names) {
    PyObject *result = originals[kind](f, args, nargsf, names);
    if (!result && PyErr_ExceptionMatches(PyExc_TypeError)) explain(f, args, nargsf, names);
    return result;
}
template<size_t... kinds>
constexpr std::array<Vectorcall, most_kinds> all_calls(std::index_sequence<kinds...>) {
    return {&call<kinds>...};
}
constexpr std::array<Vectorcall, most_kinds> calls =
    all_calls(std::make_index_sequence<most_kinds>());

void stand_in_front(nb::handle f) {
    auto &function = *reinterpret_cast<Function *>(f.ptr());
    // Where nanobind keeps it elsewhere, its texts stay.
    const nb::object address = nb::getattr(f, "__vectorcalloffset__", nb::none());
    if (address.is_none() ||
        nb::cast<intptr_t>(address) != reinterpret_cast<intptr_t>(function.call))
        return;
    for (size_t kind = 0; kind < most_kinds; kind++) {
        if (function.call == calls[kind]) return;
        if (!originals[kind]) originals[kind] = function.call;
        if (originals[kind] != function.call) continue;
        function.call = calls[kind];
        return;
    }
}

void explain_all(nb::handle scope) {
    for (nb::handle member : nb::list(scope.attr("__dict__").attr("values")())) {
        const std::string kind = class_of(member);
        if (kind == "nb_func" || kind == "nb_method") {
            stand_in_front(member);
        } else if (kind == "module" || kind.starts_with("nb_type")) {
            explain_all(member);
        }
    }
}

}  // namespace

void explain_arguments(nb::module_ &m) {
    m.def(
        "_converts",
        [](const std::string &kind, nb::handle object) {
            if (kind == "ExprLike") return as_expr(object).has_value();
            if (kind == "TypeLike") return as_type(object).has_value();
            try {
                to_loop(object);
                return true;
            } catch (const nb::python_error &) {
                return false;
            }
        },
        "kind"_a, "object"_a);
    explain_all(m);
}

}  // namespace tessera::python
