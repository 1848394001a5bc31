#pragma once
#include "arrays.h"
#include <ostream>

// Calls of compiled functions share this, both those that compute and those that ask.
namespace tessera::python {

// Says which argument an error is of: "argument 2 (mask)".
struct WhichArgument {
    const Argument &argument;
    size_t index;
    friend std::ostream &operator<<(std::ostream &out, const WhichArgument &w) {
        return out << "argument " << w.index << " (" << w.argument.name << ")";
    }
};

// Holds what is given to a function by position, then by name, in Python's tuple and dict (or
// null).
class GivenArguments {
public:
    // Throws TypeError if there are too many.
    GivenArguments(const Callable &callable, PyObject *args, PyObject *keywords);

    size_t size() const { return arguments.size(); }
    const Argument &wanted(size_t i) const { return arguments[i]; }
    // Returns an argument, or nothing where it may be left out: a number that has a default. Throws
    // TypeError if it is missing.
    nb::handle take(size_t i) {
        return i < by_position ? PyTuple_GetItem(args, Py_ssize_t(i)) : take(i, false);
    }
    // The same; an input that is left out, or None, is nothing, too.
    nb::handle take_or_ask(size_t i) { return take(i, true); }
    // Throws TypeError if there is a name that was not taken.
    void end() const;

private:
    nb::handle take(size_t i, bool may_ask);

    const Callable &callable;
    const std::vector<Argument> &arguments;
    PyObject *args, *keywords;
    size_t by_position, by_name = 0;
};

// Returns the object's Buffer; null if it is none.
const Buffer<> *as_buffer(nb::handle object);
// Returns true for what an output may be instead of an array: its shape.
inline bool is_shape(nb::handle given) {
    return PyTuple_Check(given.ptr()) || PyLong_Check(given.ptr());
}
// These throw TypeError, ValueError or what an array raises if the argument does not fit.
void check_argument(const Argument &wanted, const tessera_buffer_t &b, bool read_only,
                    WhichArgument which);
void read_argument(const Argument &wanted, nb::handle given, WhichArgument which, ArrayView &view);
uint64_t scalar_argument(const Argument &wanted, nb::handle given, WhichArgument which);
std::vector<int64_t> shape_argument(const Argument &wanted, nb::handle given, WhichArgument which);

// Returns the number that a constant is, as Python's; None if it is undefined or no constant.
nb::object constant_value(const Expr &e);
// Returns the name without the number that a program gives it, which nobody writes.
std::string visible_name(const Argument &argument);
// Returns a text such as "2 dimensions of uint8".
std::string wanted_text(const Argument &wanted);
// Returns "(im, k, scaled)", and the same for help() and inspect, with defaults.
std::string signature_text(const Callable &c);
nb::object signature_object(const Callable &c);
// Describes what the function takes, a line for each argument.
std::string description(const Callable &c);

void bind_argument(nb::module_ &m);
void define_bounds_query(nb::class_<Callable> &c);

}  // namespace tessera::python
