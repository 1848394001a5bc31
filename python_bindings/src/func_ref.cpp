#include "bindings.h"

namespace tessera::python {

FuncRef place_of(const Func &f, nb::handle position) { return f(to_exprs(position), here()); }

void define(FuncRef at, nb::handle value) {
    if (nb::isinstance<Stage>(value)) return;
    if (is_tuple(value))
        at = Tuple(to_exprs(value), at.where());
    else if (nb::isinstance<FuncRef>(value))
        at = nb::cast<FuncRef &>(value);
    else
        at = to_expr(value);
}

namespace {

// Applies `op=` to a place of a Func, and returns the Stage.
template<typename Op> auto in_place(Op op) {
    return [op](FuncRef &f, nb::handle value) {
        if (is_tuple(value)) return op(f, Tuple(to_exprs(value), f.where()));
        if (nb::isinstance<FuncRef>(value)) return op(f, nb::cast<FuncRef &>(value));
        return op(f, to_expr(value));
    };
}
// The same for one of several values.
template<typename Op> auto in_place_of_element(Op op) {
    return [op](FuncTupleElementRef &f, nb::handle value) { return op(f, to_expr(value)); };
}

}  // namespace

void bind_func_refs(nb::module_ &m) {
    const auto add = [](auto &f, const auto &e) { return f += e; };
    const auto subtract = [](auto &f, const auto &e) { return f -= e; };
    const auto multiply = [](auto &f, const auto &e) { return f *= e; };
    const auto divide = [](auto &f, const auto &e) { return f /= e; };
    nb::class_<FuncTupleElementRef> element(m, "FuncTupleElementRef",
                                            "f[x, y][i]: one of the values of a Func at a point.");
    element.def("__iadd__", in_place_of_element(add))
        .def("__isub__", in_place_of_element(subtract))
        .def("__imul__", in_place_of_element(multiply))
        .def("__itruediv__", in_place_of_element(divide));
    element.def("element", &FuncTupleElementRef::element, "Returns which of the values it is.");
    define_operators(element);
    nb::class_<FuncRef> ref(
        m, "FuncRef", "f[x, y]: the value of a Func at a point, or the left side of a definition.");
    ref.def("__iadd__", in_place(add))
        .def("__isub__", in_place(subtract))
        .def("__imul__", in_place(multiply))
        .def("__itruediv__", in_place(divide))
        .def("__len__", &FuncRef::size)
        .def("size", &FuncRef::size)
        .def("equivalent_to", &FuncRef::equivalent_to, "other"_a,
             "Returns True if it is the same value of the same Func.")
        .def(
            "__getitem__",
            [](const FuncRef &f, int i) {
                if (i < 0 || size_t(i) >= f.size())
                    throw nb::index_error(str("the Func has ", f.size(), " values").c_str());
                return f[i];
            },
            "index"_a)
        .def(
            "__setitem__",
            [](const FuncRef &f, int i, nb::handle value) {
                if (nb::isinstance<Stage>(value)) return;
                FuncTupleElementRef element = f[i];
                element = to_expr(value);
            },
            "index"_a, "value"_a);
    define_operators(ref);
}

}  // namespace tessera::python
