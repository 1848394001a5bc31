#include "lower/finish/lower_undef.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "lower/defined_part.h"

namespace tessera::lower {
namespace {

using namespace ir;

class LowerUndef final : public Mutator {
    Stmt visit(const Store &store) override {
        if (!has_undef(store.value)) return Stmt(&store);
        Lets lets;
        DefinedPart part = defined_part(store.value, lets);
        if (is_false(part.when)) return no_op();
        Expr predicate = store.predicate;
        bool of_lanes = part.when.type().is_vector();
        if (of_lanes) predicate = predicate.defined() ? predicate && part.when : part.when;
        Stmt rest = store.with<&Store::value, &Store::predicate>(part.value, predicate);
        if (!of_lanes && !is_true(part.when)) rest = IfThenElse::make(part.when, rest);
        return with_lets(lets, rest);
    }
    Stmt visit(const LetStmt &let) override {
        if (has_undef(let.value)) return without_undef(let);
        Stmt body = (*this)(let.body);
        return let.with<&LetStmt::body>(body);
    }
    // Lets for when there is a value, and for the value: what it is computed from may change
    // before it is stored.
    Stmt without_undef(const LetStmt &let) {
        Type type = let.value.type();
        Expr undefined = call(type, Intrinsic::undef, {});
        Lets lets;
        DefinedPart part = defined_part(let.value, lets);
        if (is_false(part.when)) return (*this)(substitute(let.name, undefined, let.body));
        Symbol when = Symbol::fresh(str(let.name, ".defined"));
        Symbol value = Symbol::fresh(let.name.text());
        Expr is_defined = Variable::make(part.when.type(), when);
        // Operands of a value that is not defined may not be there.
        bool always = part.when.type().is_vector() || is_true(part.when);
        Expr safe =
            always ? part.value
                   : call(type, Intrinsic::if_then_else, {is_defined, part.value, make_zero(type)});
        Expr known = Select::make(is_defined, Variable::make(type, value), undefined);
        Stmt body = (*this)(substitute(let.name, known, let.body));
        lets.emplace_back(when, part.when);
        lets.emplace_back(value, safe);
        return with_lets(lets, body);
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
