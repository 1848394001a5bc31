#include "lang/tuple.h"
#include "lang/call_site.h"
#include "lang/func.h"
#include "lang/operators.h"

namespace tessera {

Tuple::Tuple(std::vector<Expr> values, Location at) : exprs(std::move(values)) {
    if (exprs.empty()) throw CompileError(at, "Tuple: it has no values");
    for (const Expr &e : exprs) {
        if (!e.defined()) throw CompileError(at, "Tuple: a value is an undefined Expr");
    }
}

Tuple::Tuple(const FuncRef &f) {
    for (size_t i = 0; i < f.size(); i++) exprs.push_back(f[int(i)]);
}

Expr &Tuple::operator[](WrittenIndex i) {
    if (i.is_below(exprs.size())) return exprs[size_t(i.value)];
    throw CompileError(i.at,
                       str("Tuple: there is no element ", i.value, "; it has ", exprs.size()));
}
const Expr &Tuple::operator[](WrittenIndex i) const { return const_cast<Tuple &>(*this)[i]; }

namespace {

void require_sizes(const CallSite &site, size_t a, size_t b) {
    if (a != b) site.refuse(str("Tuples of different sizes, ", a, " and ", b));
}

}  // namespace

Tuple select(const Tuple &condition, const Tuple &true_value, const Tuple &false_value,
             Location at) {
    const CallSite site{"select", at};
    require_sizes(site, condition.size(), true_value.size());
    require_sizes(site, true_value.size(), false_value.size());
    std::vector<Expr> result;
    for (size_t i = 0; i < condition.size(); i++) {
        result.push_back(select(condition[i], true_value[i], false_value[i], at));
    }
    return Tuple(result, at);
}

Tuple select(const Expr &condition, const Tuple &true_value, const Tuple &false_value,
             Location at) {
    return select(Tuple(std::vector<Expr>(true_value.size(), condition), at), true_value,
                  false_value, at);
}

Expr mux(const Expr &id, const std::vector<Expr> &values, Location at) {
    const CallSite site{"mux", at};
    site.require_defined(id);
    if (values.empty()) site.refuse("there are no values to choose from");
    if (!id.type().is_int_or_uint() || id.type().is_bool()) {
        site.refuse(str("the index is a ", id.type(), ", not an integer"));
    }
    Expr result = values.back();
    // The test is this function's own; the values are the caller's.
    for (size_t i = values.size() - 1; i-- > 0;) {
        result = select(id == int(i), values[i], result, at);
    }
    return result;
}
Expr mux(const Expr &id, const std::initializer_list<Expr> &values, Location at) {
    return mux(id, std::vector<Expr>(values), at);
}
Expr mux(const Expr &id, const Tuple &values, Location at) {
    return mux(id, values.as_vector(), at);
}

Tuple mux(const Expr &id, const std::vector<Tuple> &values, Location at) {
    const CallSite site{"mux", at};
    if (values.empty()) site.refuse("there are no values to choose from");
    std::vector<Expr> result;
    for (size_t k = 0; k < values[0].size(); k++) {
        std::vector<Expr> element;
        for (const Tuple &t : values) {
            require_sizes(site, values[0].size(), t.size());
            element.push_back(t[k]);
        }
        result.push_back(mux(id, element, at));
    }
    return Tuple(result);
}
Tuple mux(const Expr &id, const std::initializer_list<Tuple> &values, Location at) {
    return mux(id, std::vector<Tuple>(values), at);
}

}  // namespace tessera
