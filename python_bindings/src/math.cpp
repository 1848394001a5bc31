#include "bindings.h"

namespace tessera::python {
namespace {

using Location1 = Expr (*)(const Expr &, const Location &);
using Location2 = Expr (*)(const Expr &, const Expr &, const Location &);

struct Unary {
    const char *name;
    Location1 apply;
    const char *doc;
};
struct TwoOperands {
    const char *name;
    Location2 apply;
    const char *doc;
};

#define UNARY(name, doc)                                                                           \
    {#name, [](const Expr &a, const Location &at) { return tessera::name(a, at); }, doc}
#define BINARY(name, doc)                                                                          \
    {#name,                                                                                        \
     [](const Expr &a, const Expr &b, const Location &at) { return tessera::name(a, b, at); },     \
     doc}

const Unary unary_functions[] = {
    UNARY(abs, "Returns |a|; of a signed integer an unsigned one."),
    UNARY(sin, "Returns the sine; of an integer as a float32."),
    UNARY(cos, "Returns the cosine."),
    UNARY(tan, "Returns the tangent."),
    UNARY(asin, "Returns the arc sine."),
    UNARY(acos, "Returns the arc cosine."),
    UNARY(atan, "Returns the arc tangent."),
    UNARY(sinh, "Returns the hyperbolic sine."),
    UNARY(cosh, "Returns the hyperbolic cosine."),
    UNARY(tanh, "Returns the hyperbolic tangent."),
    UNARY(asinh, "Returns the inverse hyperbolic sine."),
    UNARY(acosh, "Returns the inverse hyperbolic cosine."),
    UNARY(atanh, "Returns the inverse hyperbolic tangent."),
    UNARY(sqrt, "Returns the square root."),
    UNARY(exp, "Returns e to this power."),
    UNARY(log, "Returns the natural logarithm."),
    UNARY(erf, "Returns the error function, to about 1e-6."),
    UNARY(floor, "Rounds down."),
    UNARY(ceil, "Rounds up."),
    UNARY(round, "Rounds to the nearest, half to even."),
    UNARY(trunc, "Rounds to zero."),
    UNARY(fract, "Returns x - trunc(x)."),
    UNARY(is_nan, "Returns true for a NaN."),
    UNARY(is_inf, "Returns true for an infinity."),
    UNARY(is_finite, "Returns true for what is neither an infinity nor a NaN."),
    UNARY(fast_sin, "Returns the sine with an absolute error below 1e-5 for |x| up to 1000."),
    UNARY(fast_cos, "Returns the cosine with an absolute error below 1e-5 for |x| up to 1000."),
    UNARY(fast_exp, "Returns e to this power with a relative error below 1e-5."),
    UNARY(fast_log, "Returns the natural logarithm with an absolute error below 1e-5 near 1."),
    UNARY(fast_inverse, "Returns about 1 / x."),
    UNARY(fast_inverse_sqrt, "Returns about 1 / sqrt(x)."),
    UNARY(strict_float, "Rounds each operation of the expression on its own."),
    UNARY(popcount, "Returns the number of bits that are set."),
    UNARY(count_leading_zeros, "Returns the number of zeros above the highest bit that is set."),
    UNARY(count_trailing_zeros, "Returns the number of zeros below the lowest bit that is set."),
};
const TwoOperands binary_functions[] = {
    BINARY(absd, "Returns |a - b|, which never overflows; of integers an unsigned one."),
    BINARY(atan2, "Returns the angle of the point (x=b, y=a)."),
    BINARY(hypot, "Returns sqrt(a * a + b * b)."),
    BINARY(pow, "Returns a to the power of b."),
    BINARY(fast_pow, "Returns about a to the power of b."),
    BINARY(div_round_to_zero, "Divides integers, rounding to zero."),
    BINARY(mod_round_to_zero, "Returns the remainder that div_round_to_zero leaves."),
    BINARY(widening_add, "Adds in a type of twice the bits."),
    BINARY(widening_sub, "Subtracts in a signed type of twice the bits."),
    BINARY(widening_mul, "Multiplies in a type of twice the bits."),
    BINARY(widening_shift_left, "Shifts in a type of twice the bits."),
    BINARY(widening_shift_right, "Shifts in a type of twice the bits."),
    BINARY(widen_right_add, "Adds an operand of half the bits."),
    BINARY(widen_right_sub, "Subtracts an operand of half the bits."),
    BINARY(widen_right_mul, "Multiplies by an operand of half the bits."),
    BINARY(saturating_add, "Adds, to the nearest value of the type."),
    BINARY(saturating_sub, "Subtracts, to the nearest value of the type."),
    BINARY(halving_add, "Returns (a + b) / 2 as if in a wider type."),
    BINARY(halving_sub, "Returns (a - b) / 2 as if in a wider type."),
    BINARY(rounding_halving_add, "Returns (a + b + 1) / 2 as if in a wider type."),
    BINARY(rounding_shift_left,
           "Shifts left; to the right, rounding half up, for negative counts."),
    BINARY(rounding_shift_right, "Shifts right, rounding half up."),
};
#undef UNARY
#undef BINARY

// min and max of two and more, by position.
Expr fold(nb::args args, Location2 apply) {
    if (args.size() < 2) throw nb::type_error("two expressions at least are wanted");
    const Location at = here();
    Expr result = to_expr(args[0]);
    for (size_t i = 1; i < args.size(); i++) result = apply(result, to_expr(args[i]), at);
    return result;
}

// One value, or a Python tuple of several.
nb::object of_tuple(const std::vector<Expr> &values) {
    nb::list list;
    for (const Expr &e : values) list.append(nb::cast(e));
    return nb::tuple(list);
}
bool is_tuple(nb::handle h) { return nb::isinstance<nb::tuple>(h) || nb::isinstance<nb::list>(h); }

nb::object select(nb::args args) {
    if (args.size() < 3 || args.size() % 2 == 0)
        throw nb::type_error("select takes condition, value, ..., and the value otherwise");
    const Location at = here();
    const nb::handle last = args[args.size() - 1];
    if (!is_tuple(last)) {
        Expr result = to_expr(last);
        for (size_t i = args.size() - 1; i >= 2; i -= 2)
            result = ir::select(to_expr(args[i - 2]), to_expr(args[i - 1]), result, at);
        return nb::cast(result);
    }
    std::vector<Expr> values = to_exprs(last);
    for (size_t i = args.size() - 1; i >= 2; i -= 2) {
        const std::vector<Expr> conditions = to_exprs(args[i - 2]), chosen = to_exprs(args[i - 1]);
        if (chosen.size() != values.size() ||
            (conditions.size() != 1 && conditions.size() != values.size()))
            throw nb::type_error("select: the tuples have different numbers of values");
        for (size_t v = 0; v < values.size(); v++)
            values[v] = ir::select(conditions.size() == 1 ? conditions[0] : conditions[v],
                                   chosen[v], values[v], at);
    }
    return of_tuple(values);
}

// Takes (expr, name) or (rdom, expr, name).
template<typename F> auto reduction(F f, const char *name) {
    return [f, name](nb::args args, nb::kwargs kwargs) {
        Arguments given(name, args, kwargs);
        std::optional<RDom> domain;
        if (given.first().is_valid() && nb::isinstance<RDom>(given.first()))
            domain = nb::cast<RDom>(given.take("rdom"));
        const Expr e = to_expr(given.take("expr"));
        const std::string called = nb::cast<std::string>(given.take_or("name", nb::str(name)));
        given.end();
        return f(domain ? &*domain : nullptr, e, called, here());
    };
}
}  // namespace

void bind_functions(nb::module_ &m) {
    for (const Unary &f : unary_functions) {
        m.def(
            f.name, [apply = f.apply](const ExprLike &a) { return apply(a, here()); }, "a"_a,
            f.doc);
    }
    for (const TwoOperands &f : binary_functions) {
        m.def(
            f.name,
            [apply = f.apply](const ExprLike &a, const ExprLike &b) { return apply(a, b, here()); },
            "a"_a, "b"_a, f.doc);
    }
    m.def(
        "min",
        [](nb::args args) {
            return fold(args, [](const Expr &a, const Expr &b, const Location &at) {
                return ir::min(a, b, at);
            });
        },
        "Returns the least of two or more.");
    m.def(
        "max",
        [](nb::args args) {
            return fold(args, [](const Expr &a, const Expr &b, const Location &at) {
                return ir::max(a, b, at);
            });
        },
        "Returns the largest of two or more.");
    m.def(
        "clamp",
        [](const ExprLike &a, const ExprLike &low, const ExprLike &high) {
            return ir::clamp(a, low, high, here());
        },
        "a"_a, "min"_a, "max"_a, "Returns the nearest value from min to max.");
    m.def("select", &select,
          "Returns the value after the first condition that is true, or the last value. Tuples are "
          "chosen as a whole.");
    m.def(
        "mux",
        [](const ExprLike &id, nb::handle values) -> nb::object {
            const Location at = here();
            const std::vector<nb::object> list = items(values);
            if (list.empty() || !is_tuple(list[0])) return nb::cast(mux(id, to_exprs(values), at));
            std::vector<Tuple> tuples;
            for (const nb::object &t : list) tuples.emplace_back(to_exprs(t), at);
            return of_tuple(mux(id, tuples, at).as_vector());
        },
        "id"_a, "values"_a, "Returns values[id]; the last one for an id out of range.");
    m.def(
        "likely", [](const ExprLike &e) { return likely(e.get()); }, "e"_a,
        "Says that the value is the usual one: loops are split where it is.");
    m.def(
        "likely_if_innermost", [](const ExprLike &e) { return likely_if_innermost(e.get()); },
        "e"_a, "Does what likely() does in an innermost loop alone.");
    m.def(
        "lerp",
        [](const ExprLike &a, const ExprLike &b, const ExprLike &w) {
            return lerp(a, b, w, here());
        },
        "zero_val"_a, "one_val"_a, "weight"_a,
        "Interpolates: zero_val where the weight is 0, one_val where it is 1.");
    m.def(
        "fma",
        [](const ExprLike &a, const ExprLike &b, const ExprLike &c) {
            return fma(a, b, c, here());
        },
        "a"_a, "b"_a, "c"_a, "Returns a * b + c, rounded once.");
    m.def(
        "mul_shift_right",
        [](const ExprLike &a, const ExprLike &b, const ExprLike &q) {
            return mul_shift_right(a, b, q.get(), here());
        },
        "a"_a, "b"_a, "q"_a);
    m.def(
        "rounding_mul_shift_right",
        [](const ExprLike &a, const ExprLike &b, const ExprLike &q) {
            return rounding_mul_shift_right(a, b, q.get(), here());
        },
        "a"_a, "b"_a, "q"_a);

    m.def(
        "cast", [](const TypeLike &t, const ExprLike &e) { return cast(t.get(), e, here()); },
        "type"_a, "e"_a, "Converts to the type; integers wrap.");
    m.def(
        "reinterpret",
        [](const TypeLike &t, const ExprLike &e) { return reinterpret(t.get(), e, here()); },
        "type"_a, "e"_a, "Returns the same bits, seen as another type.");
    m.def(
        "saturating_cast",
        [](const TypeLike &t, const ExprLike &e) { return saturating_cast(t.get(), e, here()); },
        "type"_a, "e"_a, "Returns the nearest value that the type has.");
    m.def(
        "extract_bits",
        [](const TypeLike &t, const ExprLike &e, const ExprLike &lsb) {
            return extract_bits(t.get(), e, lsb, here());
        },
        "type"_a, "e"_a, "lsb"_a);
    m.def(
        "concat_bits", [](nb::handle parts) { return concat_bits(to_exprs(parts), here()); },
        "parts"_a);
    m.def(
        "undef", [](const TypeLike &t) { return undef(t.get(), here()); }, "type"_a,
        "Returns the element that is there already: storing it does nothing.");
    const std::pair<const char *, Type> casts[] = {
        {"i8", Int(8)},     {"i16", Int(16)},   {"i32", Int(32)},   {"i64", Int(64)},
        {"u8", UInt(8)},    {"u16", UInt(16)},  {"u32", UInt(32)},  {"u64", UInt(64)},
        {"f16", Float(16)}, {"f32", Float(32)}, {"f64", Float(64)}, {"bf16", BFloat(16)}};
    for (const auto &[name, type] : casts) {
        m.def(
            name,
            [type = type](nb::handle e) {
                // A number of Python's keeps all of its digits.
                if (PyFloat_Check(e.ptr()))
                    return cast(type, Expr(PyFloat_AsDouble(e.ptr())), here());
                return cast(type, to_expr(e), here());
            },
            "e"_a, "Converts to this type; integers wrap.");
        if (type.is_float()) continue;
        m.def(
            str(name, "_sat").c_str(),
            [type = type](const ExprLike &e) { return saturating_cast(type, e, here()); }, "e"_a,
            "Returns the nearest value that the type has.");
    }

    m.def(
        "print", [](nb::args args) { return print(to_exprs(args), here()); },
        "Returns the first operand, and prints all when it is evaluated.");
    m.def(
        "print_when",
        [](const ExprLike &condition, nb::args args) {
            return print_when(condition, to_exprs(args), here());
        },
        "condition"_a, "args"_a);
    m.def(
        "require",
        [](const ExprLike &condition, nb::args args) {
            return require(condition, to_exprs(args), here());
        },
        "condition"_a, "args"_a,
        "Returns the value after the condition; where that is false, the pipeline fails, and says "
        "the value and what follows.");
    m.def(
        "unsafe_promise_clamped",
        [](const ExprLike &e, const ExprLike &low, const ExprLike &high) {
            return unsafe_promise_clamped(e, low, high, here());
        },
        "value"_a, "min"_a, "max"_a);
    m.def(
        "random_float",
        [](std::optional<ExprLike> seed) {
            return random_float(seed ? seed->get() : Expr(), here());
        },
        "seed"_a = nb::none());
    m.def(
        "random_int",
        [](std::optional<ExprLike> seed) {
            return random_int(seed ? seed->get() : Expr(), here());
        },
        "seed"_a = nb::none());
    m.def(
        "random_uint",
        [](std::optional<ExprLike> seed) {
            return random_uint(seed ? seed->get() : Expr(), here());
        },
        "seed"_a = nb::none());
    m.def("scatter", [](nb::args args) { return scatter(to_exprs(args), here()); });
    m.def("gather", [](nb::args args) { return gather(to_exprs(args), here()); });

#define REDUCTION(which, doc)                                                                      \
    m.def(#which,                                                                                  \
          reduction([](const RDom *r, const Expr &e, const std::string &name,                      \
                       Location at) { return r ? which(*r, e, name, at) : which(e, name, at); },   \
                    #which),                                                                       \
          doc)
    REDUCTION(sum, "Returns the sum over the reduction domain that the expression uses, or that is "
                   "given first.");
    REDUCTION(saturating_sum, "Returns the sum, to the nearest value of the type in each step.");
    REDUCTION(product, "Returns the product over the reduction domain.");
    REDUCTION(maximum, "Returns the largest value over the reduction domain.");
    REDUCTION(minimum, "Returns the least value over the reduction domain.");
#undef REDUCTION
#define REDUCTION(which, doc)                                                                      \
    m.def(                                                                                         \
        #which,                                                                                    \
        [](nb::args args, nb::kwargs kwargs) {                                                     \
            return of_tuple(                                                                       \
                reduction(                                                                         \
                    [](const RDom *r, const Expr &e, const std::string &name, Location at) {       \
                        return r ? which(*r, e, name, at) : which(e, name, at);                    \
                    },                                                                             \
                    #which)(args, kwargs)                                                          \
                    .as_vector());                                                                 \
        },                                                                                         \
        doc)
    REDUCTION(
        argmax,
        "Returns where the largest value is, a coordinate per dimension, and then the value.");
    REDUCTION(argmin,
              "Returns where the least value is, a coordinate per dimension, and then the value.");
#undef REDUCTION
}

}  // namespace tessera::python
