#include "base/dialect.h"
#include "bindings.h"
#include "docs/language.h"
#include "lang/deep_expr.h"

namespace tessera::python {
namespace {

// f[x] += e and f[x] + e of a Func without a definition, by Halide's rules: nothing is done before
// it is stored.
struct Update {
    FuncRef place;
    Expr value;
    Stage (*apply)(FuncRef &, const Expr &);

    void store(const FuncRef &at) const {
        if (place.function()->defined())
            throw CompileError(at.where(), str("this value is from when ", place.function()->name,
                                               " had no definition; it has one now"));
        if (!at.equivalent_to(place))
            throw CompileError(at.where(),
                               str("an update of ", place.function()->name,
                                   " is stored elsewhere than where its value is from"));
        FuncRef f = place;
        apply(f, value);
    }
};

// Releases the GIL for a definition that is walked on another stack, from where warnings call
// Python.
class Unlocked {
public:
    explicit Unlocked(const std::vector<Expr> &values) {
        for (const Expr &e : values) {
            if (e.defined() && int(e->depth) > detail::deepest_on_any_stack && !no_gil)
                no_gil.emplace();
        }
    }

private:
    std::optional<nb::gil_scoped_release> no_gil;
};

}  // namespace

nb::object pending_update(nb::handle place, const Operand &value,
                          Stage (*apply)(FuncRef &, const Expr &)) {
    const FuncRef &f = *nb::inst_ptr<FuncRef>(place);
    if (f.function()->defined() || !follows_halide(here())) return {};
    return nb::cast(Update{f, value, apply});
}

FuncRef place_of(const Func &f, nb::handle position) { return f(to_exprs(position), here()); }

void define(FuncRef at, nb::handle value) {
    const PythonHandlers handlers;
    if (nb::isinstance<Stage>(value)) return;
    if (nb::isinstance<Update>(value)) return nb::cast<Update &>(value).store(at);
    if (nb::isinstance<FuncRef>(value)) {
        at = nb::cast<FuncRef &>(value);
        return;
    }
    const Tuple values(is_tuple(value) ? to_exprs(value) : std::vector<Expr>{to_expr(value)},
                       at.where());
    const Unlocked unlocked(values.as_vector());
    at = values;
}

namespace {

template<typename Op, typename Ref>
nb::object applied(Op op, Ref &place, const Expr &value) {
    const PythonHandlers handlers;
    std::optional<Stage> stage;
    {
        const Unlocked unlocked({value});
        stage = op(place, value);
    }
    return nb::cast(*stage);
}

// Applies `op=` to a place of a Func, and returns the Stage. By Halide's rules f[x] += e is
// f[x] = f[x] + e, so that `left = f[x]; left += e` makes an expression: `binary` is Python's.
template<typename Op> auto in_place(Op op, PyObject *(*binary)(PyObject *, PyObject *)) {
    return [op, binary](nb::handle self, nb::handle value) -> nb::object {
        const Here at = here();
        FuncRef f = nb::cast<FuncRef &>(self);
        if (is_tuple(value)) return nb::cast(op(f, Tuple(to_exprs(value), f.where())));
        if (follows_halide(at)) {
            const auto apply = +[](FuncRef &place, const Expr &e) { return Op()(place, e); };
            if (!f.function()->defined()) return nb::cast(Update{f, to_expr(value), apply});
            const nb::object result = nb::steal(binary(self.ptr(), value.ptr()));
            if (!result.is_valid()) throw nb::python_error();
            return result;
        }
        if (nb::isinstance<FuncRef>(value)) return nb::cast(op(f, nb::cast<FuncRef &>(value)));
        return applied(op, f, to_expr(value));
    };
}
// The same for one of several values.
template<typename Op> auto in_place_of_element(Op op) {
    return
        [op](FuncTupleElementRef &f, nb::handle value) { return applied(op, f, to_expr(value)); };
}

}  // namespace

void bind_func_refs(nb::module_ &m) {
    const auto add = [](auto &f, const auto &e) { return f += e; };
    const auto subtract = [](auto &f, const auto &e) { return f -= e; };
    const auto multiply = [](auto &f, const auto &e) { return f *= e; };
    const auto divide = [](auto &f, const auto &e) { return f /= e; };
    nb::class_<FuncTupleElementRef> element(m, "FuncTupleElementRef", docs::element::class_);
    element.def("__iadd__", in_place_of_element(add))
        .def("__isub__", in_place_of_element(subtract))
        .def("__imul__", in_place_of_element(multiply))
        .def("__itruediv__", in_place_of_element(divide));
    element.def("element", &FuncTupleElementRef::element, docs::element::element);
    define_operators(element);
    nb::class_<FuncRef> ref(m, "FuncRef", docs::ref::class_);
    nb::class_<Update>(m, "_Update");
    ref.def("__iadd__", in_place(add, &PyNumber_Add))
        .def("__isub__", in_place(subtract, &PyNumber_Subtract))
        .def("__imul__", in_place(multiply, &PyNumber_Multiply))
        .def("__itruediv__", in_place(divide, &PyNumber_TrueDivide))
        .def("__len__", &FuncRef::size)
        .def("size", &FuncRef::size, docs::ref::size)
        .def("equivalent_to", &FuncRef::equivalent_to, "other"_a, docs::ref::equivalent_to)
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
                const PythonHandlers handlers;
                FuncTupleElementRef element = f[i];
                element = to_expr(value);
            },
            "index"_a, "value"_a);
    define_operators(ref, true);
}

}  // namespace tessera::python
