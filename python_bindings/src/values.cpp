#include "docs/values.h"
#include "bindings.h"

// Binds what chooses between values, and values that are special.
namespace tessera::python {
namespace {

using Fold = Expr (*)(Expr, Expr, Location);

// min and max of two and more, by position.
Expr fold(nb::args args, Fold apply) {
    if (args.size() < 2) throw nb::type_error("two expressions at least are wanted");
    const Here at = here();
    Expr result = to_expr(args[0]);
    for (size_t i = 1; i < args.size(); i++) result = apply(result, to_expr(args[i]), at);
    return result;
}

// All values of a tuple, of a Func at a point, or the one of an expression.
std::vector<Expr> values_of(nb::handle h) {
    return nb::isinstance<FuncRef>(h) ? Tuple(nb::cast<FuncRef &>(h)).as_vector() : to_exprs(h);
}
bool has_values(nb::handle h) {
    return is_tuple(h) || (nb::isinstance<FuncRef>(h) && nb::cast<FuncRef &>(h).size() > 1);
}

nb::object select(nb::args args) {
    if (args.size() < 3 || args.size() % 2 == 0)
        throw nb::type_error("select takes condition, value, ..., and the value otherwise");
    const Here at = here();
    const nb::handle last = args[args.size() - 1];
    if (!has_values(last)) {
        Expr result = to_expr(last);
        for (size_t i = args.size() - 1; i >= 2; i -= 2)
            result = ir::select(to_expr(args[i - 2]), to_expr(args[i - 1]), result, at);
        return nb::cast(result);
    }
    std::vector<Expr> values = values_of(last);
    for (size_t i = args.size() - 1; i >= 2; i -= 2) {
        const std::vector<Expr> conditions = to_exprs(args[i - 2]), chosen = values_of(args[i - 1]);
        if (chosen.size() != values.size() ||
            (conditions.size() != 1 && conditions.size() != values.size()))
            throw nb::type_error("select: the tuples have different numbers of values");
        for (size_t v = 0; v < values.size(); v++)
            values[v] = ir::select(conditions.size() == 1 ? conditions[0] : conditions[v],
                                   chosen[v], values[v], at);
    }
    return to_python(values);
}

nb::object mux_of(const ExprLike &id, nb::handle values) {
    const Here at = here();
    const std::vector<nb::object> list = items(values);
    if (list.empty() || !has_values(list[0])) return nb::cast(mux(id, to_exprs(values), at));
    std::vector<Tuple> tuples;
    for (const nb::object &t : list) tuples.emplace_back(values_of(t), at);
    return to_python(mux(id, tuples, at).as_vector());
}

void bind_choice(nb::module_ &m) {
    m.def(
        "min",
        [](nb::args args) {
            return fold(args, [](Expr a, Expr b, Location at) { return ir::min(a, b, at); });
        },
        docs::value::min);
    m.def(
        "max",
        [](nb::args args) {
            return fold(args, [](Expr a, Expr b, Location at) { return ir::max(a, b, at); });
        },
        docs::value::max);
    m.def("select", &select, docs::value::select);
    m.def("mux", &mux_of, "id"_a, "values"_a, docs::value::mux);
    m.def("likely", [](const ExprLike &e) { return likely(e.get()); }, "e"_a, docs::value::likely);
    m.def(
        "likely_if_innermost", [](const ExprLike &e) { return likely_if_innermost(e.get()); },
        "e"_a, docs::value::likely_if_innermost);
    m.def(
        "logical_not", [](const ExprLike &e) { return !WrittenExpr(e.get(), here()); }, "e"_a,
        docs::value::logical_not);
}

// The functions that take expressions by position, or one list of them.
struct OfMany {
    const char *name;
    Expr (*apply)(const std::vector<Expr> &, Location);
    const char *doc;
};
const OfMany of_many[] = {
    {"print", [](const std::vector<Expr> &e, Location at) { return print(e, at); },
     docs::value::print},
    {"scatter", [](const std::vector<Expr> &e, Location at) { return scatter(e, at); },
     docs::value::scatter},
    {"gather", [](const std::vector<Expr> &e, Location at) { return gather(e, at); },
     docs::value::gather},
};
// A condition, and expressions after it.
struct Conditional {
    const char *name;
    Expr (*apply)(const Expr &, const std::vector<Expr> &, Location);
    const char *doc;
};
const Conditional conditional[] = {
    {"print_when",
     [](const Expr &c, const std::vector<Expr> &e, Location at) { return print_when(c, e, at); },
     docs::value::print_when},
    {"require",
     [](const Expr &c, const std::vector<Expr> &e, Location at) { return require(c, e, at); },
     docs::value::require},
};
struct Random {
    const char *name;
    Expr (*apply)(const Expr &, Location);
    const char *doc;
};
const Random random_functions[] = {
    {"random_float", [](const Expr &seed, Location at) { return random_float(seed, at); },
     docs::value::random_float},
    {"random_int", [](const Expr &seed, Location at) { return random_int(seed, at); },
     docs::value::random_int},
    {"random_uint", [](const Expr &seed, Location at) { return random_uint(seed, at); },
     docs::value::random_uint},
};

void bind_special(nb::module_ &m) {
    for (const OfMany &f : of_many) {
        m.def(
            f.name,
            [apply = f.apply](nb::args args) {
                const bool is_list = args.size() == 1 && is_tuple(args[0]);
                return apply(to_message(is_list ? args[0] : nb::handle(args)), here());
            },
            f.doc);
    }
    for (const Conditional &f : conditional) {
        m.def(
            f.name,
            [apply = f.apply](const ExprLike &condition, nb::args args) {
                return apply(condition, to_message(args), here());
            },
            "condition"_a, "args"_a, f.doc);
    }
    for (const Random &f : random_functions) {
        m.def(
            f.name,
            [apply = f.apply](std::optional<ExprLike> seed) {
                return apply(seed ? seed->get() : Expr(), here());
            },
            "seed"_a = nb::none(), f.doc);
    }
    m.def("reset_random_counters", &reset_random_counters, docs::value::reset_random_counters);
    m.def(
        "undef", [](const TypeLike &t) { return undef(t.get(), here()); }, "type"_a,
        docs::value::undef);
}

void bind_target_questions(nb::module_ &m) {
    m.def("target_arch_is", &target_arch_is, "arch"_a, docs::value::target_arch_is);
    m.def("target_os_is", &target_os_is, "os"_a, docs::value::target_os_is);
    m.def("target_has_feature", &target_has_feature, "feature"_a, docs::value::target_has_feature);
    m.def("target_bits", &target_bits, docs::value::target_bits);
    m.def(
        "target_natural_vector_size",
        [](const TypeLike &t) { return target_natural_vector_size(t.get()); }, "type"_a,
        docs::value::target_natural_vector_size);
}

}  // namespace

void bind_values(nb::module_ &m) {
    bind_choice(m);
    bind_special(m);
    bind_target_questions(m);
}

}  // namespace tessera::python
