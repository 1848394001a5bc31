#include "bindings.h"
#include <sstream>

namespace tessera::python {
namespace {

using Binary = Expr (*)(const WrittenExpr &, const Expr &);

// Integers are divided as by `/`; of floats the quotient is rounded down.
Expr floor_divide(const WrittenExpr &a, const Expr &b) {
    const Expr quotient = a / b;
    return quotient.type().is_float() ? floor(quotient, a.at) : quotient;
}

struct BinaryOperator {
    const char *name, *reflected;  // the second for operands the other way round
    Binary apply;
};
const BinaryOperator binary_operators[] = {
    {"__add__", "__radd__", [](const WrittenExpr &a, const Expr &b) { return a + b; }},
    {"__sub__", "__rsub__", [](const WrittenExpr &a, const Expr &b) { return a - b; }},
    {"__mul__", "__rmul__", [](const WrittenExpr &a, const Expr &b) { return a * b; }},
    {"__truediv__", "__rtruediv__", [](const WrittenExpr &a, const Expr &b) { return a / b; }},
    {"__floordiv__", "__rfloordiv__", floor_divide},
    {"__mod__", "__rmod__", [](const WrittenExpr &a, const Expr &b) { return a % b; }},
    {"__pow__", "__rpow__", [](const WrittenExpr &a, const Expr &b) { return pow(a, b, a.at); }},
    {"__lshift__", "__rlshift__", [](const WrittenExpr &a, const Expr &b) { return a << b; }},
    {"__rshift__", "__rrshift__", [](const WrittenExpr &a, const Expr &b) { return a >> b; }},
    {"__and__", "__rand__", [](const WrittenExpr &a, const Expr &b) { return a & b; }},
    {"__or__", "__ror__", [](const WrittenExpr &a, const Expr &b) { return a | b; }},
    {"__xor__", "__rxor__", [](const WrittenExpr &a, const Expr &b) { return a ^ b; }},
    {"__lt__", nullptr, [](const WrittenExpr &a, const Expr &b) { return a < b; }},
    {"__le__", nullptr, [](const WrittenExpr &a, const Expr &b) { return a <= b; }},
    {"__gt__", nullptr, [](const WrittenExpr &a, const Expr &b) { return a > b; }},
    {"__ge__", nullptr, [](const WrittenExpr &a, const Expr &b) { return a >= b; }},
    {"__eq__", nullptr,
     [](const WrittenExpr &a, const Expr &b) { return a == WrittenExpr(b, a.at); }},
    {"__ne__", nullptr,
     [](const WrittenExpr &a, const Expr &b) { return a != WrittenExpr(b, a.at); }},
};

}  // namespace

void define_operators(nb::object type) {
    auto &c = static_cast<nb::class_<Expr> &>(
        type);  // only its def() is used, which knows no more than the scope
    for (const BinaryOperator &op : binary_operators) {
        c.def(
            op.name,
            [apply = op.apply](nb::handle a, const Operand &b) {
                return apply(WrittenExpr(to_expr(a), here()), b);
            },
            nb::is_operator());
        if (!op.reflected) continue;
        c.def(
            op.reflected,
            [apply = op.apply](nb::handle a, const Operand &b) {
                return apply(WrittenExpr(b.get(), here()), to_expr(a));
            },
            nb::is_operator());
    }
    c.def("__neg__", [](nb::handle a) { return -WrittenExpr(to_expr(a), here()); });
    c.def("__abs__", [](nb::handle a) { return abs(to_expr(a), here()); });
    c.def("__pos__", [](nb::handle a) { return to_expr(a); });
    c.def("__invert__", [](nb::handle a) {
        const WrittenExpr e(to_expr(a), here());
        return e.type().is_bool() ? !e : ~e;
    });
    c.def(
        "logical_not", [](nb::handle a) { return !WrittenExpr(to_expr(a), here()); },
        "Returns the negation of a bool.");
    c.def("__bool__", [](nb::handle) -> bool {
        throw nb::value_error(
            "an expression is neither true nor false before the pipeline runs: write & for and, "
            "| for or, ~ for not, (a < b) & (b < c) for a < b < c, and select(c, a, b) for if");
    });
    c.attr("__hash__") = nb::none();
    // Arrays of NumPy's leave operators with an expression to it.
    c.attr("__array_ufunc__") = nb::none();
}

namespace {

void bind_vars(nb::module_ &m) {
    nb::class_<Var> var(
        m, "Var",
        "The name of a dimension of a Func, or of a loop. Vars of one name are the same.");
    var.def(nb::init<>(), "Makes a Var with a name that nobody else has.")
        .def(nb::init<const std::string &>(), "name"_a)
        .def("name", &Var::name)
        .def("same_as", &Var::same_as, "other"_a)
        .def_static("outermost", &Var::outermost, "Returns the loop around all loops of a stage.")
        .def("__repr__", [](const Var &v) { return str("Var(\"", v.name(), "\")"); });
    define_operators(var);
    nb::class_<RVar> rvar(
        m, "RVar",
        "A variable of a reduction domain, or the name of a loop made of such variables.");
    rvar.def(
            "__init__",
            [](RVar *r, const std::string &name) {
                name.empty() ? new (r) RVar() : new (r) RVar(name);
            },
            "name"_a = "")
        .def("name", &RVar::name)
        .def("min", &RVar::min)
        .def("extent", &RVar::extent)
        .def("__repr__", [](const RVar &r) { return str("RVar(\"", r.name(), "\")"); });
    define_operators(rvar);

    m.attr("_") = nb::cast(_);
    const Var *implicit[] = {&_0, &_1, &_2, &_3, &_4, &_5, &_6, &_7, &_8, &_9};
    for (int i = 0; i < 10; i++) m.attr(str("_", i).c_str()) = nb::cast(*implicit[i]);
}

void bind_rdom(nb::module_ &m) {
    nb::class_<RDom> rdom(
        m, "RDom",
        "A box over which updates run, first variable fastest: RDom([(min, extent), ...]).");
    rdom.def(
            "__init__",
            [](RDom *r, nb::handle bounds, const std::string &name) {
                const Location at = here();
                if (nb::isinstance<Buffer<>>(bounds))
                    new (r) RDom(nb::cast<Buffer<>>(bounds), name, at);
                else if (nb::isinstance<OutputImageParam>(bounds))
                    new (r) RDom(nb::cast<OutputImageParam &>(bounds), name, at);
                else
                    new (r) RDom(to_region(bounds), name, at);
            },
            "bounds"_a, "name"_a = "",
            "Takes (min, extent) of each dimension, or all of a Buffer or an ImageParam.")
        .def("dimensions", &RDom::dimensions)
        .def("same_as", &RDom::same_as, "other"_a)
        .def(
            "where", [](RDom &r, const ExprLike &condition) { r.where(condition, here()); },
            "condition"_a, "Leaves only the points for which the condition holds.")
        .def("__len__", &RDom::dimensions)
        .def(
            "__getitem__",
            [](const RDom &r, int i) {
                if (i < 0 || i >= r.dimensions())
                    throw nb::index_error(
                        str("the RDom has ", r.dimensions(), " dimensions").c_str());
                return r[i];
            },
            "index"_a)
        .def_prop_ro("x", [](const RDom &r) { return r.x; })
        .def_prop_ro("y", [](const RDom &r) { return r.y; })
        .def_prop_ro("z", [](const RDom &r) { return r.z; })
        .def_prop_ro("w", [](const RDom &r) { return r.w; });
    define_operators(rdom);
}

}  // namespace

void bind_expr(nb::module_ &m) {
    nb::class_<Expr> expr(m, "Expr", "A value that a pipeline computes at each point.");
    expr.def(nb::init<>(), "Makes an undefined Expr: no limit, where one is given.")
        .def(
            "__init__", [](Expr *e, const ExprLike &value) { new (e) Expr(value.get()); },
            "value"_a)
        .def("type", [](const Expr &e) { return e.type(); })
        .def("defined", &Expr::defined)
        .def(
            "same_as", [](const Expr &a, const Expr &b) { return a.same_as(b); }, "other"_a)
        .def("__repr__",
             [](const Expr &e) { return e.defined() ? ir::to_string(e) : "<undefined Expr>"; });
    define_operators(expr);
    bind_vars(m);
    bind_rdom(m);
    nb::class_<Tuple>(m, "_Tuple").def("__len__", &Tuple::size);
}

}  // namespace tessera::python
