#include "lower/finish/lower_undef.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/visitor.h"

namespace tessera::lower {
namespace {

using namespace ir;

bool has_undef(const Expr &e) {
    bool found = false;
    for_each_node(e, [&](const IntrinsicCall &c) { found |= c.op == Intrinsic::undef; });
    return found;
}

DefinedPart choose(const Expr &condition, const DefinedPart &yes, const DefinedPart &no) {
    if (has_undef(condition) || (!yes.when.defined() && !no.when.defined())) return {};
    if (!yes.when.defined()) {
        return {is_true(no.when) ? !condition : !condition && no.when, no.value};
    }
    if (!no.when.defined()) {
        return {is_true(yes.when) ? condition : condition && yes.when, yes.value};
    }
    Expr value = Select::make(condition, yes.value, no.value);
    if (is_true(yes.when) && is_true(no.when)) return {const_true(), value};
    return {select(condition, yes.when, no.when), value};
}

}  // namespace

DefinedPart defined_part(const Expr &e) {
    if (!has_undef(e)) return {const_true(e.type().lanes()), e};
    if (const auto *s = e.as<Select>()) {
        return choose(s->condition, defined_part(s->true_value), defined_part(s->false_value));
    }
    const auto *c = e.as<IntrinsicCall>();
    if (c && c->op == Intrinsic::if_then_else && c->args.size() == 3) {
        DefinedPart part = choose(c->args[0], defined_part(c->args[1]), defined_part(c->args[2]));
        const auto *both = part.value.defined() ? part.value.as<Select>() : nullptr;
        if (both) {
            part.value = call(e.type(), Intrinsic::if_then_else,
                              {both->condition, both->true_value, both->false_value});
        }
        return part;
    }
    if (const auto *let = e.as<Let>()) {
        if (has_undef(let->value)) {
            return defined_part(substitute(let->name, let->value, let->body));
        }
        DefinedPart part = defined_part(let->body);
        if (!part.when.defined()) return part;
        auto within = [&](const Expr &inner) {
            return uses_symbol(inner, let->name) ? Let::make(let->name, let->value, inner) : inner;
        };
        return {within(part.when), within(part.value)};
    }
    return {};
}

namespace {

class LowerUndef final : public Mutator {
    Stmt visit(const Store &store) override {
        if (!has_undef(store.value)) return Stmt(&store);
        DefinedPart part = defined_part(store.value);
        if (!part.when.defined()) return no_op();
        if (part.when.type().is_vector()) {
            Expr predicate = store.predicate.defined() ? store.predicate && part.when : part.when;
            return Store::make(store.buffer, part.value, store.index, predicate, store.alignment,
                               store.streaming);
        }
        Stmt rest = Store::make(store.buffer, part.value, store.index, store.predicate,
                                store.alignment, store.streaming);
        return is_true(part.when) ? rest : IfThenElse::make(part.when, rest);
    }
    Stmt visit(const LetStmt &let) override {
        if (has_undef(let.value)) return without_undef(let);
        Stmt body = (*this)(let.body);
        return body.same_as(let.body) ? Stmt(&let) : LetStmt::make(let.name, let.value, body);
    }
    // Lets for when there is a value, and for the value: what it is computed from may change
    // before it is stored.
    Stmt without_undef(const LetStmt &let) {
        Type type = let.value.type();
        Expr undefined = call(type, Intrinsic::undef, {});
        DefinedPart part = defined_part(let.value);
        if (!part.when.defined()) return (*this)(substitute(let.name, undefined, let.body));
        Symbol when = Symbol::fresh(str(let.name, ".defined"));
        Symbol value = Symbol::fresh(let.name.text());
        Expr is_defined = Variable::make(part.when.type(), when);
        // Where it is not, what it is computed from may not be there.
        bool always = part.when.type().is_vector() || is_true(part.when);
        Expr safe =
            always ? part.value
                   : call(type, Intrinsic::if_then_else, {is_defined, part.value, make_zero(type)});
        Expr known = Select::make(is_defined, Variable::make(type, value), undefined);
        Stmt body = (*this)(substitute(let.name, known, let.body));
        return LetStmt::make(when, part.when, LetStmt::make(value, safe, body));
    }
    Stmt visit(const Evaluate &evaluate) override {
        return has_undef(evaluate.value) && is_pure(evaluate.value) ? no_op() : Stmt(&evaluate);
    }
};

}  // namespace

Stmt lower_undef(const Stmt &s, const Context &) {
    bool any = false;
    for_each_node(s, [&](const IntrinsicCall &c) { any |= c.op == Intrinsic::undef; });
    return any ? LowerUndef()(s) : s;
}

}  // namespace tessera::lower
