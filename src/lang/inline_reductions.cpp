#include "lang/inline_reductions.h"
#include "ir/substitute.h"
#include "ir/visitor_inl.h"
#include "lang/deep_expr.h"
#include "program/define.h"
#include <algorithm>

namespace tessera {
namespace {

// One reduction: a Func over the free variables of an expression. Variables of other domains
// belong to a reduction around this one: they are free, too, under names of their own.
class Reduction {
public:
    Reduction(const char *what, const RDom &domain, const Expr &e, const Func &f, Location at)
        : f(f), at(at), r(domain), body(e) {
        if (!e.defined()) throw CompileError(at, str(what, ": an undefined Expr"));
        if (!r.defined()) r = RDom(program::domain_of({e}, at));
        if (!r.defined()) {
            throw CompileError(at, str(what,
                                       ": the expression uses no variable of an RDom; name "
                                       "the domain, as in ",
                                       what, "(r, ...)"));
        }
        if (f.defined()) throw CompileError(at, str(what, ": ", f.name(), " is defined already"));
        collect(e);
        if (r.domain()->predicate.defined()) collect(r.domain()->predicate);
        body = ir::substitute(outer, e);
    }

    // f(free variables) = initial, then the update.
    FuncRef point() const { return f(formal, at); }
    Tuple result() const { return Tuple(f(actual, at)); }
    // Over the whole domain, even if the values are the same everywhere.
    void update(const std::vector<Expr> &values) const {
        program::define_update(f.function(), formal, values, at, r.domain());
    }

    Func f;
    Location at;
    RDom r;
    Expr body;

private:
    void collect(const Expr &in);
    void add(const Expr &formal_arg, const Expr &actual_arg) {
        formal.push_back(formal_arg);
        actual.push_back(actual_arg);
    }
    std::vector<Expr> formal, actual;
    std::unordered_map<Symbol, Expr> seen;
    ir::Substitution outer;
};

void Reduction::collect(const Expr &in) {
    std::vector<Symbol> bound;
    ir::for_each_node(in, [&](const ir::Let &let) { bound.push_back(let.name); });
    for (const auto &own : r.domain()->variables) bound.push_back(own.var);
    ir::for_each_node(in, [&](const ir::Variable &v) {
        if (std::find(bound.begin(), bound.end(), v.name) != bound.end()) return;
        bool of_domain = dynamic_cast<const program::ReductionDomain *>(v.referent.get());
        if (v.referent && !of_domain) return;
        if (!seen.emplace(v.name, Expr(&v)).second) return;
        if (!of_domain) return add(Expr(&v), Expr(&v));
        Expr own_name = Var();
        outer.emplace(v.name, own_name);
        add(own_name, Expr(&v));
    });
}

Expr reduce(const char *what, const RDom &r, const Expr &e, const Func &f, Location at,
            Expr (*initial)(Type), Expr (*op)(Expr, Expr, Location)) {
    return detail::with_room_for({e}, what, at, [&] {
        Reduction reduction(what, r, e, f, at);
        reduction.point() = initial(e.type());
        reduction.update({op(reduction.point(), reduction.body, at)});
        return Expr(reduction.result()[0]);
    });
}

Tuple reduce_place_here(const char *what, const RDom &r, const Expr &e, const Func &f, Location at,
                        bool smallest) {
    Reduction reduction(what, r, e, f, at);
    std::vector<Expr> initial, found, kept;
    for (int i = 0; i < reduction.r.dimensions(); i++) {
        initial.push_back(0);
        found.push_back(reduction.r[i]);
    }
    initial.push_back(smallest ? e.type().max() : e.type().min());
    found.push_back(reduction.body);
    reduction.point() = Tuple(initial);
    Tuple old(reduction.point());
    size_t last = old.size() - 1;
    Expr better = smallest ? found[last] < old[last] : found[last] > old[last];
    for (size_t i = 0; i < old.size(); i++) kept.push_back(select(better, found[i], old[i]));
    reduction.update(kept);
    return reduction.result();
}

Tuple reduce_place(const char *what, const RDom &r, const Expr &e, const Func &f, Location at,
                   bool smallest) {
    return detail::with_room_for({e}, what, at,
                                 [&] { return reduce_place_here(what, r, e, f, at, smallest); });
}

Expr zero(Type t) { return ir::make_zero(t); }
Expr one(Type t) { return ir::make_one(t); }
Expr largest(Type t) { return t.max(); }
Expr smallest(Type t) { return t.min(); }
Expr sum_of_two(Expr a, Expr b, Location at) {
    return WrittenExpr(std::move(a), at) + std::move(b);
}
Expr product_of_two(Expr a, Expr b, Location at) {
    return WrittenExpr(std::move(a), at) * std::move(b);
}
Expr lower_of_two(Expr a, Expr b, Location at) { return min(std::move(a), std::move(b), at); }
Expr higher(Expr a, Expr b, Location at) { return max(std::move(a), std::move(b), at); }

}  // namespace

// The four forms of a reduction: with or without a domain, with a name or a Func.
#define FORMS(Result, name, ...)                                                                   \
    Result name(const RDom &r, const Expr &e, const Func &f, Location at) { return __VA_ARGS__; }  \
    Result name(const Expr &e, const Func &f, Location at) { return name(RDom(), e, f, at); }      \
    Result name(const RDom &r, const Expr &e, const std::string &func, Location at) {              \
        return name(r, e, Func(func), at);                                                         \
    }                                                                                              \
    Result name(const Expr &e, const std::string &func, Location at) {                             \
        return name(RDom(), e, Func(func), at);                                                    \
    }
FORMS(Expr, sum, reduce("sum", r, e, f, at, zero, sum_of_two))
FORMS(Expr, saturating_sum, reduce("saturating_sum", r, e, f, at, zero, saturating_add))
FORMS(Expr, product, reduce("product", r, e, f, at, one, product_of_two))
FORMS(Expr, maximum, reduce("maximum", r, e, f, at, smallest, higher))
FORMS(Expr, minimum, reduce("minimum", r, e, f, at, largest, lower_of_two))
FORMS(Tuple, argmax, reduce_place("argmax", r, e, f, at, false))
FORMS(Tuple, argmin, reduce_place("argmin", r, e, f, at, true))
#undef FORMS

}  // namespace tessera
