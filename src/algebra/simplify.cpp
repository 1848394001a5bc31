#include "algebra/simplify.h"
#include "algebra/nodes_simplified.h"
#include "algebra/simplifier.h"
#include "algebra/walk.h"
#include "ir/operators.h"

namespace tessera::algebra {

using namespace ir;

namespace {

// Operands of these are simplified by their own visit, with other facts or names.
bool has_own_scope(const Expr &e) {
    if (e.as<Let>()) return true;
    const auto *c = e.as<IntrinsicCall>();
    return c && c->op == Intrinsic::if_then_else;
}

bool has_effects(const Expr &e) {
    if (const auto *c = e.as<IntrinsicCall>()) return !info_of(c->op).pure;
    const auto *c = e.as<ExternCall>();
    return c && !c->pure;
}

thread_local uint64_t simplified = 0;

constexpr int max_conditionals = 2;   // within one another whose conditions are known inside
constexpr size_t small_operand = 50;  // nodes of what is looked at anew where one is known

bool is_small(const Expr &e) {
    SeenNodes<const ExprNode *> seen;
    for_each_postorder(
        e, [&](const Expr &n) { return seen.size() > small_operand || seen.contains(n.get()); },
        [&](const Expr &n) { seen.insert(n.get()); });
    return seen.size() <= small_operand;
}

// Returns the value that a select certainly chooses: effects of the other value, like itself, are
// not wanted.
Expr chosen_branch(const Expr &e) {
    const auto *select = e.as<Select>();
    if (select && is_true(select->condition)) return select->true_value;
    return select && is_false(select->condition) ? select->false_value : e;
}

}  // namespace

bool is_cheap(const Expr &e) {
    if (e.type().is_handle()) return false;  // a buffer is named by symbol, too
    if (ir::is_const(e) || e.as<Variable>()) return true;
    if (const auto *b = e.as<Broadcast>()) return is_cheap(b->value);
    if (const auto *r = e.as<Ramp>()) return is_cheap(r->base) && ir::is_const(r->stride);
    if (const auto *a = e.as<Add>()) return a->a.as<Variable>() && ir::is_const(a->b);
    if (const auto *s = e.as<Sub>()) return s->a.as<Variable>() && ir::is_const(s->b);
    return false;
}

const Facts Simplifier::no_facts;

Simplifier::Simplifier(const Facts &facts, int effort, Arguments arguments)
    : known(effort, arguments), rewriter(known), given(facts) {
    for (const Expr &e : facts.known_true) learn((*this)(e));
}

Expr Simplifier::operator()(const Expr &root) {
    if (!root.defined()) return root;
    if (nesting == 0) known.renew_allowance();
    if (const Memo *done = find_done(root)) return done->after;
    nesting++;
    Expr simple = simplify_all(root);
    nesting--;
    return simple;
}

const Simplifier::Memo *Simplifier::find_done(const Expr &e) {
    const Memo *found = memo.find(e.get());
    return found && known.is_usable(found->scope) ? found : nullptr;
}

Expr Simplifier::simplify_all(const Expr &root) {
    std::vector<const Expr *> stack{&root};
    while (!stack.empty()) {
        const Expr &top = *stack.back();
        if (find_done(top)) {
            stack.pop_back();
            continue;
        }
        size_t before = stack.size();
        if (!has_own_scope(top)) {
            for_each_operand(top, [&](const Expr &operand) {
                if (!find_done(operand)) stack.push_back(&operand);
            });
        }
        if (stack.size() != before) continue;
        stack.pop_back();
        simplified++;
        Expr after = visit(top);
        if (equal(after, top) && known.is_pure(after)) after = known.intern(top);
        memo[top.get()] = {top, after, known.scope()};
        if (!after.same_as(top)) memo[after.get()] = {after, after, known.scope()};
    }
    return memo.find(root.get())->after;
}

Expr Simplifier::visit(const Expr &e) {
    if (e.as<Let>()) return visit_let(e);
    if (e.as<Variable>()) return visit_variable(e);
    if (const auto *c = e.as<IntrinsicCall>(); c && has_own_scope(e)) return visit_conditional(*c);
    Expr simple = visit_children(e);
    return known.is_pure(simple) ? rewriter.remake(simple) : chosen_branch(simple);
}

Expr Simplifier::visit_variable(const Expr &e) {
    Symbol name = e.as<Variable>()->name;
    if (!known.find(name)) look_up(name);
    if (const KnownVariable *k = known.find(name)) {
        if (k->replacement.defined()) return k->replacement;
        ConstantInterval i = known.interval(known.intern(e));
        if (i.is_point()) return known.intern(make_const(e.type(), i.min));
    }
    return rewriter.decided(known.intern(e));
}

// Binds a variable to what the facts say of it, in this scope: what else is known here may have
// gone into it.
void Simplifier::look_up(Symbol s) {
    auto interval = given.intervals.find(s);
    auto alignment = given.alignments.find(s);
    if (interval != given.intervals.end()) {
        known.bind(s, {});  // a bound of it that names the variable itself finds it bound
        known.bind(s, {(*this)(interval->second.min), (*this)(interval->second.max)});
    }
    if (alignment == given.alignments.end()) return;
    if (interval == given.intervals.end()) known.bind(s, {});
    known.align(s, alignment->second);
}

// The same node of simplified operands. One with effects in it is marked, kept alive, and left as
// it is; any other is interned.
Expr Simplifier::visit_children(const Expr &e) {
    bool effects = has_effects(e);
    Expr simple = map_operands(e, [&](const Expr &operand) {
        Expr s = (*this)(operand);
        effects |= !known.is_pure(s);
        return s;
    });
    if (!effects) return known.intern(simple);
    known.mark_impure(simple);
    return simple;
}

Simplifier::Bound Simplifier::bind_let(Symbol name, const Expr &value) {
    if (known.is_pure(value) && is_cheap(value)) {
        known.replace(name, value);
        return {};
    }
    const auto *ramp = value.as<Ramp>();
    if (ramp && ramp->base.type().is_scalar() && known.is_pure(value) &&
        ir::is_const(ramp->stride)) {
        Symbol first = Symbol::fresh(str(name.text(), ".first"));
        known.bind_value(first, ramp->base);
        Expr base = known.intern(Variable::make(ramp->base.type(), first));
        known.replace(name, known.intern(Ramp::make(base, ramp->stride, ramp->lanes)));
        return {first, ramp->base};
    }
    known.bind_value(name, value);
    return {name, value};
}

Expr Simplifier::visit_let(const Expr &e) {
    std::vector<Bound> kept;
    Expr rest = e;
    known.enter(false);
    while (const auto *let = rest.as<Let>()) {
        Bound bound = bind_let(let->name, (*this)(let->value));
        if (bound.value.defined()) kept.push_back(bound);
        rest = let->body;
    }
    Expr body = (*this)(rest);
    known.leave();
    std::unordered_set<Symbol> used;
    SeenNodes<const ExprNode *> seen;
    auto collect = [&](const Expr &root) {
        for_each_postorder(
            root, [&](const Expr &n) { return seen.contains(n.get()); },
            [&](const Expr &n) {
                seen.insert(n.get());
                for_own_symbol(n, [&](Symbol name) { used.insert(name); });
            });
    };
    collect(body);
    for (size_t i = kept.size(); i-- > 0;) {
        bool effects = !known.is_pure(kept[i].value);
        if (!used.count(kept[i].name) && !effects) continue;
        collect(kept[i].value);
        effects |= !known.is_pure(body);
        body = Let::make(kept[i].name, kept[i].value, body);
        if (effects) {
            known.mark_impure(body);
        } else {
            body = known.intern(body);
        }
    }
    return body;
}

Expr Simplifier::visit_conditional(const IntrinsicCall &c) {
    std::vector<Expr> args;
    bool effects = false;
    Expr condition = (*this)(c.args[0]);
    if (is_true(condition)) return (*this)(c.args[1]);
    if (is_false(condition) && c.args.size() == 3) return (*this)(c.args[2]);
    args.push_back(condition);
    for (size_t i = 1; i < c.args.size(); i++) {
        // A condition that is learnt here makes everything below be looked at anew.
        if (conditionals == max_conditionals || !is_small(c.args[i])) {
            args.push_back((*this)(c.args[i]));
            continue;
        }
        conditionals++;
        known.enter(true);
        learn(i == 1 || !known.is_pure(condition) ? condition : rewriter.make_not(condition));
        args.push_back((*this)(c.args[i]));
        known.leave();
        conditionals--;
    }
    if (args.size() == 3 && args[1].same_as(args[2]) && known.is_pure(condition)) return args[1];
    for (const Expr &a : args) effects |= !known.is_pure(a);
    Expr call = c.with<&IntrinsicCall::args>(std::move(args));
    if (!effects) {
        return rewriter.folded(call);
    }
    known.mark_impure(call);
    return call;
}

void Simplifier::learn(const Expr &condition) {
    if (!known.is_pure(condition) || is_const(condition) || !known.is_stable(condition)) return;
    if (is_likely(condition)) return learn(condition.as<IntrinsicCall>()->args[0]);
    if (const auto *b = condition.as<Broadcast>()) return learn(b->value);
    if (const auto *a = condition.as<And>()) {
        learn(a->a);
        return learn(a->b);
    }
    if (const auto *no = condition.as<Not>(); no && no->a.as<And>()) {
        const auto &both = *no->a.as<And>();
        const Expr either =
            rewriter.make(NodeKind::Or, rewriter.make_not(both.a), rewriter.make_not(both.b));
        if (!is_const(either) && !either.as<Not>()) learn(either);
    }
    known.learn(condition, rewriter.make_not(condition));
}

uint64_t nodes_simplified() { return simplified; }

static thread_local Simplifier *shared = nullptr;

SimplifierScope::SimplifierScope() : simplifier(std::make_unique<Simplifier>()), around(shared) {
    shared = simplifier.get();
}

SimplifierScope::~SimplifierScope() { shared = around; }

Expr simplify(const Expr &e, const Facts &facts) {
    if (shared && facts.empty() && !shared->is_at_work()) return (*shared)(e);
    return Simplifier(facts)(e);
}

}  // namespace tessera::algebra
