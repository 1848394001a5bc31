#include "bindings.h"
#include "docs/values.h"

// Reductions inside of an expression: sum(r, f[x + r]).
namespace tessera::python {
namespace {

// Holds what a reduction is given: its domain, if there is one, and the Func that it becomes, or
// its name.
struct Reduction {
    std::optional<RDom> domain;
    Expr value;
    std::string name;
    std::optional<Func> func;
};

// An RDom of one dimension may be the value: sum(r), sum(r, "name").
bool is_value(nb::args args) {
    return args.size() == 1 || nb::isinstance<nb::str>(args[1]) || nb::isinstance<Func>(args[1]);
}

// Takes (value), (rdom, value), and the name, or the Func, after it.
Reduction reduction(const char *function, nb::args args, nb::kwargs kwargs) {
    Arguments given(function, args, kwargs);
    Reduction r;
    const bool has_domain =
        given.has("rdom") ||
        (given.first().is_valid() && nb::isinstance<RDom>(given.first()) && !is_value(args));
    if (has_domain) r.domain = nb::cast<RDom>(given.take("rdom"));
    r.value = to_expr(given.take("expr"));
    const nb::object name = given.take_or("name", nb::str(function));
    if (nb::isinstance<Func>(name))
        r.func = nb::cast<Func>(name);
    else if (nb::isinstance<nb::str>(name))
        r.name = nb::cast<std::string>(name);
    else
        throw nb::type_error(
            str(function, ": a ", class_of(name), " is no name and no Func").c_str());
    given.end();
    return r;
}

// Calls one of the four forms of a reduction.
#define APPLY(which)                                                                               \
    [](const Reduction &r, const Location &at) {                                                   \
        if (r.func)                                                                                \
            return r.domain ? which(*r.domain, r.value, *r.func, at)                               \
                            : which(r.value, *r.func, at);                                         \
        return r.domain ? which(*r.domain, r.value, r.name, at) : which(r.value, r.name, at);      \
    }
template<typename Result> struct ReductionFunction {
    const char *name;
    Result (*apply)(const Reduction &, const Location &);
    const char *doc;
};
const ReductionFunction<Expr> of_one_value[] = {
    {"sum", APPLY(sum), docs::value::sum},
    {"saturating_sum", APPLY(saturating_sum), docs::value::saturating_sum},
    {"product", APPLY(product), docs::value::product},
    {"maximum", APPLY(maximum), docs::value::maximum},
    {"minimum", APPLY(minimum), docs::value::minimum},
};
const ReductionFunction<Tuple> of_a_place[] = {
    {"argmax", APPLY(argmax), docs::value::argmax},
    {"argmin", APPLY(argmin), docs::value::argmin},
};
#undef APPLY

}  // namespace

void bind_reductions(nb::module_ &m) {
    for (const auto &f : of_one_value) {
        m.def(
            f.name,
            [&f](nb::args args, nb::kwargs kwargs) {
                return f.apply(reduction(f.name, args, kwargs), here());
            },
            f.doc);
    }
    for (const auto &f : of_a_place) {
        m.def(
            f.name,
            [&f](nb::args args, nb::kwargs kwargs) {
                return to_python(f.apply(reduction(f.name, args, kwargs), here()).as_vector());
            },
            f.doc);
    }
}

}  // namespace tessera::python
