#include "lower/defined_part.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/visitor.h"

namespace tessera::lower {
namespace {

using namespace ir;

Expr both(Expr a, Expr b) {
    if (is_true(a) || is_false(b)) return b;
    if (is_true(b) || is_false(a)) return a;
    int lanes = std::max(a.type().lanes(), b.type().lanes());
    return And::make(broadcast(a, lanes), broadcast(b, lanes));
}

Expr broadcast_to(const Expr &e, int lanes) {
    return e.type().lanes() == lanes ? e : broadcast(e, lanes);
}

Expr choose(const Expr &condition, const Expr &yes, const Expr &no) {
    if (is_true(yes) && is_true(no)) return yes;
    if (is_false(no)) return both(condition, yes);
    if (is_false(yes)) return both(!condition, no);
    int lanes = std::max({condition.type().lanes(), yes.type().lanes(), no.type().lanes()});
    return Select::make(condition, broadcast_to(yes, lanes), broadcast_to(no, lanes));
}

// Returns true if it may be evaluated twice.
bool is_cheap(const Expr &e) {
    bool cheap = is_pure(e);
    for_each_node(e, [&](const Load &) { cheap = false; });
    for_each_node(e, [&](const Call &) { cheap = false; });
    for_each_node(e, [&](const ExternCall &) { cheap = false; });
    return cheap;
}

class Parts {
public:
    explicit Parts(Lets &lets) : lets(lets) {}

    DefinedPart of(const Expr &e);
    // Returns the part of a choice or a let that is defined.
    const DefinedPart &of_choice(const Expr &e);
    // Returns when what a variable stands for is defined.
    Expr when_of(Symbol variable) const {
        auto found = whens.find(variable);
        return found == whens.end() ? const_true() : found->second;
    }

private:
    bool may_be_undefined(const Expr &e) const;
    DefinedPart select(const Expr &condition, const Expr &yes, const Expr &no, bool lazily);
    DefinedPart let(const Let &let);
    Expr named(const Expr &e, std::string_view name);

    Lets &lets;
    Expr path = const_true();  // what holds where the expression is evaluated that is looked at
    std::unordered_map<Symbol, Expr> whens;
    struct Done {
        Expr e;  // keeps its node alive
        DefinedPart part;
    };
    std::unordered_map<const ExprNode *, Done> done;  // on this path
};

// Goes through the operations around choices and lets: their operands must all be defined.
class WhenFinder final : public Visitor {
public:
    explicit WhenFinder(Parts &parts) : parts(parts) {}
    Expr when = const_true();

private:
    void visit(const Select &n) override { when = both(when, parts.of_choice(Expr(&n)).when); }
    void visit(const Let &n) override { when = both(when, parts.of_choice(Expr(&n)).when); }
    void visit(const Variable &n) override { when = both(when, parts.when_of(n.name)); }
    void visit(const IntrinsicCall &n) override {
        if (n.op == Intrinsic::undef) {
            when = const_false();
        } else if (n.op == Intrinsic::if_then_else) {
            when = both(when, parts.of_choice(Expr(&n)).when);
        } else {
            Visitor::visit(n);
        }
    }
    Parts &parts;
};

class ValueFinder final : public Mutator {
public:
    explicit ValueFinder(Parts &parts) : parts(parts) {}

private:
    Expr visit(const Select &n) override { return parts.of_choice(Expr(&n)).value; }
    Expr visit(const Let &n) override { return parts.of_choice(Expr(&n)).value; }
    Expr visit(const IntrinsicCall &n) override {
        bool is_choice = n.op == Intrinsic::if_then_else;
        return is_choice ? parts.of_choice(Expr(&n)).value : Mutator::visit(n);
    }
    Parts &parts;
};

bool Parts::may_be_undefined(const Expr &e) const {
    bool may = has_undef(e);
    if (whens.empty()) return may;
    for_each_node(e, [&](const Variable &v) { may |= whens.contains(v.name); });
    return may;
}

DefinedPart Parts::of(const Expr &e) {
    if (!may_be_undefined(e)) return {const_true(), e};
    WhenFinder finder(*this);
    finder(e);
    if (is_false(finder.when)) return {finder.when, e};
    return {finder.when, ValueFinder(*this)(e)};
}

const DefinedPart &Parts::of_choice(const Expr &e) {
    auto found = done.find(e.get());
    if (found != done.end()) return found->second.part;
    DefinedPart part{const_true(), e};
    if (!may_be_undefined(e)) {
        // Not looked into.
    } else if (const auto *s = e.as<Select>()) {
        part = select(s->condition, s->true_value, s->false_value, false);
    } else if (const auto *l = e.as<Let>()) {
        part = let(*l);
    } else {
        const std::vector<Expr> &args = e.as<IntrinsicCall>()->args;
        part = select(args[0], args[1], args.size() > 2 ? args[2] : make_zero(e.type()), true);
    }
    return done.insert_or_assign(e.get(), Done{e, part}).first->second.part;
}

DefinedPart Parts::select(const Expr &written, const Expr &yes_value, const Expr &no_value,
                          bool lazily) {
    DefinedPart tested = of(written);
    if (is_false(tested.when)) return {tested.when, yes_value};
    Expr condition = is_cheap(tested.value) ? tested.value : named(tested.value, "chosen");
    auto branch = [&](const Expr &value, const Expr &taken) {
        if (!lazily) return of(value);
        Expr outer = std::exchange(path, both(path, taken));
        auto before = std::exchange(done, {});
        DefinedPart part = of(value);
        done = std::move(before);
        path = outer;
        return part;
    };
    DefinedPart yes = branch(yes_value, condition), no = branch(no_value, !condition);
    Expr when = both(tested.when, choose(condition, yes.when, no.when));
    if (is_false(no.when)) return {when, yes.value};
    if (is_false(yes.when)) return {when, no.value};
    Expr value =
        lazily ? call(yes.value.type(), Intrinsic::if_then_else, {condition, yes.value, no.value})
               : Select::make(condition, yes.value, no.value);
    return {when, value};
}

DefinedPart Parts::let(const Let &let) {
    DefinedPart part = of(let.value);
    Expr undefined = call(let.value.type(), Intrinsic::undef, {});
    if (is_false(part.when)) return of(substitute(let.name, undefined, let.body));
    Expr when = is_const(part.when) ? part.when : named(part.when, "defined");
    // Operands of a value that is not defined may not be there.
    Expr outer = std::exchange(path, both(path, when));
    Expr value = named(part.value, let.name.text());
    path = outer;
    if (!is_true(when)) whens[value.as<Variable>()->name] = when;
    return of(substitute(let.name, value, let.body));
}

// On its path it is what it stands for.
Expr Parts::named(const Expr &e, std::string_view name) {
    Type t = e.type();
    bool always = is_true(path) || path.type().is_vector();
    Expr safe = always ? e : call(t, Intrinsic::if_then_else, {path, e, make_zero(t)});
    lets.emplace_back(Symbol::fresh(std::string(name)), safe);
    return Variable::make(t, lets.back().first);
}

}  // namespace

bool has_undef(const Expr &e) {
    bool found = false;
    for_each_node(e, [&](const IntrinsicCall &c) { found |= c.op == Intrinsic::undef; });
    return found;
}

DefinedPart defined_part(const Expr &e, Lets &lets) { return Parts(lets).of(e); }

Expr defined_or_undef(const Expr &e, Lets &lets) {
    if (!has_undef(e)) return e;
    DefinedPart part = defined_part(e, lets);
    if (is_true(part.when)) return part.value;
    Expr undefined = call(e.type(), Intrinsic::undef, {});
    if (is_false(part.when)) return undefined;
    return call(e.type(), Intrinsic::if_then_else, {part.when, part.value, undefined});
}

}  // namespace tessera::lower
