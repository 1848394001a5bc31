#include "lang/func_ref.h"
#include "base/dialect.h"
#include "ir/equal.h"
#include "ir/printer.h"
#include "ir/visitor_inl.h"
#include "lang/deep_expr.h"
#include "lang/stage.h"
#include "program/define.h"
#include <algorithm>
#include <set>

namespace tessera {

namespace {

bool is_placeholder(const Expr &e) {
    const auto *v = e.as<ir::Variable>();
    return v && !v->referent && Var::is_placeholder(Var(v->name));
}

// Returns true if the value is a text. Functions take texts as arguments and print them, but no
// Func can hold them.
bool is_text(const Expr &e) {
    if (const auto *s = e.as<ir::Select>())
        return is_text(s->true_value) || is_text(s->false_value);
    return e.as<ir::StringImm>() != nullptr;
}

// The implicit dimensions that the expressions use: i for `_i`.
std::set<int> implicit_indices(const std::vector<Expr> &values) {
    std::set<int> found;
    for (const Expr &e : values) {
        if (!e.defined()) continue;
        ir::for_each_node(e, [&](const ir::Variable &v) {
            int i = v.referent ? -1 : Var::implicit_index(Var(v.name));
            if (i >= 0) found.insert(i);
        });
    }
    return found;
}

// Returns the number of dimensions that `_` stands for: one more than the highest `_n`.
int count_implicit(const std::vector<Expr> &values) {
    std::set<int> used = implicit_indices(values);
    return used.empty() ? 0 : *used.rbegin() + 1;
}

Expr add(WrittenExpr a, Expr b) { return std::move(a) + std::move(b); }
Expr subtract(WrittenExpr a, Expr b) { return std::move(a) - std::move(b); }
Expr multiply(WrittenExpr a, Expr b) { return std::move(a) * std::move(b); }
Expr divide(WrittenExpr a, Expr b) { return std::move(a) / std::move(b); }

// Returns the stored value in the Func's type, which a constant takes by any rules.
Expr operand_of_update(Type t, const Expr &e) {
    if (!ir::is_const(e) || !ir::may_hold(t, e)) return e;
    const bool integers = t.is_int_or_uint() && e.type().is_int_or_uint();
    return integers || t.is_float() ? cast(t, e) : e;
}

}  // namespace

FuncRef::FuncRef(program::FunctionRef f, std::vector<Expr> args, Location at)
    : f(std::move(f)), args(std::move(args)), at(at) {
    int placeholders = 0;
    for (const Expr &e : this->args) {
        if (!e.defined()) {
            throw CompileError(at, str("an argument of ", this->f->name, " is an undefined Expr"));
        }
        placeholders += is_placeholder(e);
    }
    if (placeholders > 1) {
        throw CompileError(
            at, str("the placeholder _ is there twice in the arguments of ", this->f->name));
    }
}

// The arguments with `_` replaced by as many dimensions as the Func has, or, of a first definition,
// as the values use.
std::vector<Expr> FuncRef::expanded_args(const std::vector<Expr> &values) const {
    int count = f->defined() ? f->dimensions() - int(args.size()) + 1 : count_implicit(values);
    std::vector<Expr> result;
    for (const Expr &e : args) {
        if (!is_placeholder(e)) {
            result.push_back(e);
            continue;
        }
        for (int i = 0; i < count; i++) result.push_back(Var::implicit(i));
    }
    return result;
}

// The dimensions that `_` stands for in the values have to be arguments.
void FuncRef::require_implicit(const std::vector<Expr> &values,
                               const std::vector<Expr> &coordinates) const {
    for (int i : implicit_indices(values)) {
        auto is_it = [&](const Expr &e) {
            const auto *v = e.as<ir::Variable>();
            return v && Var::implicit_index(Var(v->name)) == i;
        };
        if (std::any_of(coordinates.begin(), coordinates.end(), is_it)) continue;
        throw CompileError(at, str("definition of ", f->name,
                                   ": the placeholder _ stands in its "
                                   "values, but not in its arguments; write ",
                                   f->name, "(", args.empty() ? "" : "..., ", "_) = ..."));
    }
}

std::vector<Expr> FuncRef::call_args() const {
    if (!f->defined()) {
        throw CompileError(at, str(f->name,
                                   " is used, but has no definition yet; define it first, "
                                   "as in ",
                                   f->name,
                                   "(x, y) = ...; if this is its own first definition, "
                                   "give it values that do not read it, and make this an update, "
                                   "over an RDom if it is a recursion"));
    }
    std::vector<Expr> result = expanded_args({});
    if (int(result.size()) != f->dimensions()) {
        throw CompileError(at, str(f->name, " has ", f->dimensions(), " dimension",
                                   f->dimensions() == 1 ? "" : "s", " (", join(f->args),
                                   "), but is used with ", result.size(), " argument",
                                   result.size() == 1 ? "" : "s"));
    }
    for (size_t i = 0; i < result.size(); i++) {
        Expr &e = result[i];
        if (e.type() == Int(32)) continue;
        if (!e.type().is_int_or_uint() || e.type().is_vector()) {
            throw CompileError(at, str("argument ", i, " of ", f->name, " is a ", e.type(),
                                       ", not an integer; say cast<int>(...) if it is to be "
                                       "rounded"));
        }
        if (dialect() == Dialect::Halide && e.type().bits() >= 32 && e.type() != Int(32) &&
            !ir::is_const(e)) {
            throw CompileError(at, str("argument ", i, " of ", f->name, " is a ", e.type(),
                                       "; say cast<int>(...) if it fits an int32"));
        }
        e = cast(Int(32), e);
    }
    return result;
}

Expr FuncRef::value(int i) const {
    std::vector<Expr> coordinates = call_args();
    if (i < 0 || i >= int(f->types.size())) {
        throw CompileError(at, str("value ", i, " of ", f->name, ", which has ", f->types.size()));
    }
    return program::call(f, coordinates, i);
}

FuncRef::operator Expr() const {
    Expr first = value(0);
    if (f->types.size() > 1) {
        throw CompileError(at, str(f->name, " has ", f->types.size(), " values, so ", f->name,
                                   "(...) alone is no Expr; say which, as in ", f->name,
                                   "(...)[0], or make it a Tuple"));
    }
    return first;
}

FuncTupleElementRef FuncRef::operator[](int i) const { return FuncTupleElementRef(*this, i); }

size_t FuncRef::size() const {
    call_args();
    return f->types.size();
}

bool FuncRef::equivalent_to(const FuncRef &other) const {
    if (f != other.f || args.size() != other.args.size()) return false;
    for (size_t i = 0; i < args.size(); i++) {
        if (!ir::equal(args[i], other.args[i])) return false;
    }
    return true;
}

std::vector<Expr> FuncRef::args_and(const std::vector<Expr> &values) const {
    std::vector<Expr> all = args;
    all.insert(all.end(), values.begin(), values.end());
    return all;
}

Stage FuncRef::define(const std::vector<Expr> &values) const {
    return detail::with_room_for(args_and(values), "definition of " + f->name.text(), at,
                                 [&] { return define_here(values); });
}

Stage FuncRef::define_here(const std::vector<Expr> &values) const {
    for (const Expr &v : values) {
        if (!v.defined())
            throw CompileError(at,
                               str("definition of ", f->name, ": a value is an undefined Expr"));
        if (is_text(v))
            throw CompileError(at, str("definition of ", f->name, ": a value is the text ", v,
                                       "; a Func's values are numbers"));
    }
    std::vector<Expr> coordinates = expanded_args(values);
    require_implicit(values, coordinates);
    if (f->defined()) {
        program::define_update(f, coordinates, values, at);
        return Stage(program::stage_of(f, int(f->stages.size()) - 1));
    }
    std::vector<Symbol> vars;
    for (const Expr &e : coordinates) {
        const auto *v = e.as<ir::Variable>();
        if (!v || v->referent) {
            throw CompileError(at, str("definition of ", f->name,
                                       ": the first definition has "
                                       "variables (Var) as its arguments; this one would be an "
                                       "update, of values that are not there yet"));
        }
        vars.push_back(v->name);
    }
    program::define_pure(f, vars, values, at);
    return Stage(program::stage_of(f, 0));
}

// A Func that is updated before it is defined has this value everywhere.
void FuncRef::define_base(const std::vector<Expr> &values, int initial) const {
    if (f->defined()) return;
    std::vector<Symbol> vars;
    for (const Expr &e : expanded_args(values)) {
        const auto *v = e.as<ir::Variable>();
        bool pure = v && !v->referent;
        vars.push_back(pure ? v->name : Var().symbol());
    }
    std::vector<Expr> initial_values;
    for (const Expr &v : values) {
        if (!v.defined()) {
            throw CompileError(at, str("update of ", f->name, ": a value is an undefined Expr"));
        }
        initial_values.push_back(ir::make_const(v.type(), initial));
    }
    program::define_pure(f, vars, initial_values, at);
}

Stage FuncRef::update(const std::vector<Expr> &values, int initial, Operator op) const {
    return detail::with_room_for(args_and(values), "update of " + f->name.text(), at,
                                 [&] { return update_here(values, initial, op); });
}

Stage FuncRef::update_here(const std::vector<Expr> &values, int initial, Operator op) const {
    define_base(values, initial);
    if (values.size() != f->types.size()) {
        throw CompileError(at, str("update of ", f->name, ": ", values.size(), " values, but ",
                                   f->name, " has ", f->types.size()));
    }
    std::vector<Expr> changed;
    for (size_t i = 0; i < values.size(); i++) {
        if (!values[i].defined()) {
            throw CompileError(at, str("update of ", f->name, ": a value is an undefined Expr"));
        }
        changed.push_back(op({value(int(i)), at}, operand_of_update(f->types[i], values[i])));
    }
    return define(changed);
}

Stage FuncRef::operator=(const Expr &e) { return define({e}); }
Stage FuncRef::operator=(const Tuple &values) { return define(values.as_vector()); }
Stage FuncRef::operator=(const FuncRef &e) {
    return e.size() == 1 ? define({Expr(e)}) : define(Tuple(e).as_vector());
}

#define UPDATE(symbol, initial, op)                                                                \
    Stage FuncRef::operator symbol(const Expr &e) { return update({e}, initial, op); }             \
    Stage FuncRef::operator symbol(const Tuple &values) {                                          \
        return update(values.as_vector(), initial, op);                                            \
    }                                                                                              \
    Stage FuncRef::operator symbol(const FuncRef &e) {                                             \
        return update(Tuple(e).as_vector(), initial, op);                                          \
    }
UPDATE(+=, 0, add)
UPDATE(-=, 0, subtract)
UPDATE(*=, 1, multiply)
UPDATE(/=, 1, divide)
#undef UPDATE

FuncTupleElementRef::operator Expr() const { return ref.value(index); }

Stage FuncTupleElementRef::set(const Expr &e) const {
    if (!ref.f->defined()) {
        throw CompileError(ref.at, str("value ", index, " of ", ref.f->name, " is updated, but ",
                                       ref.f->name,
                                       " has no definition yet; define all of its "
                                       "values first, with a Tuple"));
    }
    (void)ref.value(index);  // throws if there is no such value
    std::vector<Expr> values;
    for (size_t i = 0; i < ref.size(); i++) {
        values.push_back(int(i) == index ? e : ref.value(int(i)));
    }
    return ref.define(values);
}
Stage FuncTupleElementRef::update(const Expr &e, FuncRef::Operator op) const {
    if (!ref.f->defined()) return set(e);
    const Expr old = ref.value(index);
    if (!e.defined()) return set(op({old, ref.at}, e));
    return set(op({old, ref.at}, operand_of_update(old.type(), e)));
}
Stage FuncTupleElementRef::operator=(const Expr &e) { return set(e); }
Stage FuncTupleElementRef::operator=(const FuncRef &e) { return set(Expr(e)); }
Stage FuncTupleElementRef::operator=(const FuncTupleElementRef &e) { return set(Expr(e)); }
Stage FuncTupleElementRef::operator+=(const Expr &e) { return update(e, add); }
Stage FuncTupleElementRef::operator-=(const Expr &e) { return update(e, subtract); }
Stage FuncTupleElementRef::operator*=(const Expr &e) { return update(e, multiply); }
Stage FuncTupleElementRef::operator/=(const Expr &e) { return update(e, divide); }

}  // namespace tessera
