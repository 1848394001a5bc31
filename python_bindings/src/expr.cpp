#include "base/dialect.h"
#include "bindings.h"
#include "docs/language.h"

namespace tessera::python {
namespace {

using Binary = Expr (*)(const WrittenExpr &, const Expr &);

// Integers are divided as by `/`; of floats the quotient is rounded down.
Expr floor_divide(const WrittenExpr &a, const Expr &b) {
    const Expr quotient = a / b;
    return quotient.type().is_float() ? floor(quotient, a.at) : quotient;
}

// Says which type an integer of Python's has beside an expression, by Halide's rules.
enum class Beside : uint8_t { Own, Same, Count };

using UpdateOf = Stage (*)(FuncRef &, const Expr &);

struct BinaryOperator {
    const char *name, *reflected;  // the second for operands the other way round
    Binary apply;
    Beside integer = Beside::Same;
    UpdateOf update = nullptr;  // of f[x] = f[x] + e
    Binary of_bools = nullptr;  // by Halide's rules: of numbers of one bit
};
Expr differ(const WrittenExpr &a, const Expr &b) { return a != WrittenExpr(b, a.at); }
const BinaryOperator binary_operators[] = {
    {"__add__", "__radd__", [](const WrittenExpr &a, const Expr &b) { return a + b; }, Beside::Same,
     [](FuncRef &f, const Expr &e) { return f += e; }, differ},
    {"__sub__", "__rsub__", [](const WrittenExpr &a, const Expr &b) { return a - b; }, Beside::Same,
     [](FuncRef &f, const Expr &e) { return f -= e; }, differ},
    {"__mul__", "__rmul__", [](const WrittenExpr &a, const Expr &b) { return a * b; }, Beside::Same,
     [](FuncRef &f, const Expr &e) { return f *= e; },
     [](const WrittenExpr &a, const Expr &b) { return a && b; }},
    {"__truediv__", "__rtruediv__", [](const WrittenExpr &a, const Expr &b) { return a / b; },
     Beside::Same, [](FuncRef &f, const Expr &e) { return f /= e; }},
    {"__floordiv__", "__rfloordiv__", floor_divide},
    {"__mod__", "__rmod__", [](const WrittenExpr &a, const Expr &b) { return a % b; }},
    {"__pow__", "__rpow__", [](const WrittenExpr &a, const Expr &b) { return pow(a, b, a.at); },
     Beside::Own},
    {"__lshift__", "__rlshift__", [](const WrittenExpr &a, const Expr &b) { return a << b; },
     Beside::Count},
    {"__rshift__", "__rrshift__", [](const WrittenExpr &a, const Expr &b) { return a >> b; },
     Beside::Count},
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

// By Halide's rules an integer of Python's is one of the expression's type, and refused where that
// has none such; one of more than 32 bits keeps its own.
Expr beside(const Expr &other, const Operand &operand, Beside rule, const Location &at) {
    const Expr &e = operand;
    if (!operand.is_int || rule == Beside::Own || e.type() != Int(32) || !other.defined()) return e;
    if (!follows_halide(at)) return e;
    const int64_t value = *ir::as_const_int(e);
    Type t = other.type().element_of();
    if (rule == Beside::Count) {
        if (!t.is_int_or_uint() || t.is_bool()) return e;
        t = t.with_code(value < 0 ? TypeCode::Int : TypeCode::UInt);
    }
    if (t.is_handle()) return e;
    if (t.is_float() ? t.can_represent(double(value)) : t.can_represent(value))
        return ir::make_const(t, value);
    throw CompileError(at, str("the integer ", value, " is to be a ", t,
                               " as the expression "
                               "beside it, which cannot hold it; cast one of them"));
}

Expr apply_operator(const BinaryOperator &op, const WrittenExpr &a, const Expr &b) {
    const bool of_bools = op.of_bools && a.defined() && b.defined() && a.type().is_bool() &&
                          b.type().is_bool() && follows_halide(a.at);
    return of_bools ? op.of_bools(a, b) : op.apply(a, b);
}

}  // namespace

void define_operators(nb::object type, bool has_updates) {
    auto &c = static_cast<nb::class_<Expr> &>(
        type);  // only its def() is used, which knows no more than the scope
    for (const BinaryOperator &op : binary_operators) {
        const auto apply = [&op](nb::handle a, const Operand &b) {
            const WrittenExpr left(to_expr(a), here());
            return apply_operator(op, left, beside(left, b, op.integer, left.at));
        };
        if (has_updates && op.update) {
            c.def(
                op.name,
                [&op, apply](nb::handle a, const Operand &b) {
                    nb::object update = pending_update(a, b, op.update);
                    return update.is_valid() ? update : nb::cast(apply(a, b));
                },
                nb::is_operator(),
                nb::sig(str("def ", op.name, "(self, arg: ExprLike, /) -> Expr").c_str()));
        } else {
            c.def(op.name, apply, nb::is_operator());
        }
        if (!op.reflected) continue;
        c.def(
            op.reflected,
            [&op](nb::handle a, const Operand &b) {
                const Expr right = to_expr(a);
                const Here at = here();
                const Beside rule = op.integer == Beside::Count ? Beside::Own : op.integer;
                return apply_operator(op, WrittenExpr(beside(right, b, rule, at), at), right);
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
        docs::expr::logical_not);
    c.def("__bool__", [](nb::handle) -> bool {
        throw nb::value_error(
            "an expression is neither true nor false before the pipeline runs: write & for and, "
            "| for or, ~ for not, (a < b) & (b < c) for a < b < c, and select(c, a, b) for if");
    });
    c.attr("__hash__") = nb::none();
    // Arrays of NumPy's leave operators with an expression to it.
    c.attr("__array_ufunc__") = nb::none();
}

void bind_expr(nb::module_ &m) {
    nb::class_<Expr> expr(m, "Expr", docs::expr::class_);
    expr.def(nb::init<>(), docs::expr::empty)
        .def(
            "__init__", [](Expr *e, const ExprLike &value) { new (e) Expr(value.get()); },
            "value"_a, docs::expr::value)
        .def(
            "type", [](const Expr &e) { return e.type(); }, docs::expr::type)
        .def("defined", &Expr::defined, docs::expr::defined)
        .def(
            "same_as", [](const Expr &a, const Expr &b) { return a.same_as(b); }, "other"_a,
            docs::expr::same_as)
        .def("__repr__",
             [](const Expr &e) { return e.defined() ? ir::to_string(e) : "<undefined Expr>"; });
    define_operators(expr);
}

}  // namespace tessera::python
