#include "algebra/simplify.h"
#include "algebra/fold.h"
#include "algebra/rules/rules.h"
#include "algebra/simplifier.h"
#include "algebra/walk.h"
#include "ir/operators.h"

namespace tessera::algebra {

using namespace ir;
using rules::Bindings;
using rules::PatternNode;

namespace {

// Operands of these are simplified by their own visit, with other facts or names.
bool has_own_scope(const Expr &e) {
    if (e.as<Let>()) return true;
    const auto *c = e.as<IntrinsicCall>();
    return c && c->op == Intrinsic::if_then_else;
}

// Whether there may be something in the operand of a strict_float that could be contracted.
bool computes_floats(const Expr &e) {
    if (e.as<Variable>() || e.as<Load>() || is_const(e) || is_strict_float(e)) return false;
    const auto *c = e.as<Cast>();
    return !c || c->value.type().is_any_float();
}

bool has_effects(const Expr &e) {
    if (const auto *c = e.as<IntrinsicCall>()) return !info_of(c->op).pure;
    const auto *c = e.as<ExternCall>();
    return c && !c->pure;
}

Expr make_node(NodeKind op, const Expr &a, const Expr &b) {
    switch (op) {
#define CASE(T)                                                                                    \
    case NodeKind::T: return T::make(a, b);
        TESSERA_BINARY_NODES(CASE)
#undef CASE
    default: throw InternalError("not a binary operation");
    }
}

bool is_binary(NodeKind op) { return op >= NodeKind::Add && op <= NodeKind::Or; }

std::pair<Expr, Expr> binary_operands(const Expr &e) {
    switch (e.kind()) {
#define CASE(T)                                                                                    \
    case NodeKind::T: return {e.as<T>()->a, e.as<T>()->b};
        TESSERA_BINARY_NODES(CASE)
#undef CASE
    default: throw InternalError("not a binary operation");
    }
}

// The type of what a pattern stands for, where the operands tell.
Type type_of_pattern(const PatternNode &p, const Bindings &m) {
    switch (p.form) {
    case PatternNode::Wild: return m.wild[p.index].type();
    case PatternNode::Constant: return m.constant[p.index].type();
    case PatternNode::Operation: {
        size_t first = p.op == NodeKind::Select ? 1 : 0;
        for (size_t i = first; i < p.operands.size(); i++) {
            Type t = type_of_pattern(*p.operands[i], m);
            if (t.defined()) return t;
        }
        return {};
    }
    case PatternNode::Folded: return type_of_pattern(*p.operands[0], m);
    default: return {};
    }
}

bool is_comparison(NodeKind op) { return op >= NodeKind::EQ && op <= NodeKind::GE; }

constexpr int max_conditionals = 2;   // within one another whose conditions are known inside
constexpr size_t small_operand = 50;  // nodes of what is looked at anew where one is known

bool is_small(const Expr &e) {
    std::unordered_set<const ExprNode *> seen;
    for_each_postorder(
        e, [&](const Expr &n) { return seen.size() > small_operand || seen.count(n.get()) > 0; },
        [&](const Expr &n) { seen.insert(n.get()); });
    return seen.size() <= small_operand;
}

}  // namespace

bool is_likely(const Expr &e) {
    const auto *c = e.as<IntrinsicCall>();
    return c && (c->op == Intrinsic::likely || c->op == Intrinsic::likely_if_innermost);
}

const Facts Simplifier::no_facts;

Simplifier::Simplifier(const Facts &facts, int effort) : effort(effort), given(facts) {
    active.insert(0);
    scopes.emplace_back();
    enter(true);
    for (const Expr &e : facts.known_true) learn((*this)(e));
}

bool Simplifier::usable(uint32_t scope) const {
    return scope >= oldest_usable && active.count(scope);
}

// What many parts of one expression decide about takes no longer than so many decisions: where sums
// are of many choices, most find nothing.
constexpr int decisions_per_expression = 128;

Expr Simplifier::operator()(const Expr &root) {
    if (!root.defined()) return root;
    if (nesting == 0) allowance = decisions_per_expression * effort;
    nesting++;
    Expr simple = simplify_all(root);
    nesting--;
    return simple;
}

Expr Simplifier::simplify_all(const Expr &root) {
    auto done = [&](const Expr &e) {
        const Memo *found = memo.find(e.get());
        return found && usable(found->scope);
    };
    std::vector<Expr> stack{root};
    while (!stack.empty()) {
        Expr top = stack.back();
        if (done(top)) {
            stack.pop_back();
            continue;
        }
        size_t before = stack.size();
        if (!has_own_scope(top)) {
            for_each_operand(top, [&](const Expr &operand) {
                if (!done(operand)) stack.push_back(operand);
            });
        }
        if (stack.size() != before) continue;
        stack.pop_back();
        Expr after = visit(top);
        if (equal(after, top) && is_pure(after)) after = intern(top);
        memo[top.get()] = {top, after, scopes.back().serial};
        memo[after.get()] = {after, after, scopes.back().serial};
    }
    return memo.find(root.get())->after;
}

Expr Simplifier::intern(const Expr &e) {
    if (const Expr *found = interned.find_same(e)) return *found;
    bool ready = true;
    for_each_operand(e, [&](const Expr &operand) { ready = ready && interned.find_same(operand); });
    // Equal trees have equal operands, which are the same objects when both are interned.
    auto known = [&](const Expr &node) {
        const Expr *found = interned.find_equal(node);
        return found ? *found : interned.insert(node);
    };
    if (ready) return known(e);
    if (const auto *before = interned_as.find(e.get())) return before->second;
    Expr result = known(map_operands(e, [&](const Expr &operand) { return intern(operand); }));
    interned_as[e.get()] = {e, result};
    return result;
}

Expr Simplifier::fold_or_undefined(const Expr &node) {
    Expr folded = fold_constants(node);
    return folded.defined() ? intern(folded) : folded;
}

Expr Simplifier::raw(NodeKind op, const Expr &a, const Expr &b) {
    return intern(make_node(op, a, b));
}

Expr Simplifier::known_condition(const Expr &e) {
    if (!e.type().is_bool()) return e;
    if (truths.count(e)) return intern(const_true(e.type().lanes()));
    if (falsehoods.count(e)) return intern(const_false(e.type().lanes()));
    return e;
}

// What a select chooses for sure: effects of the other value, like itself, are not wanted.
static Expr chosen_branch(const Expr &e) {
    const auto *select = e.as<Select>();
    if (select && is_true(select->condition)) return select->true_value;
    return select && is_false(select->condition) ? select->false_value : e;
}

Expr Simplifier::visit(const Expr &e) {
    if (e.as<Let>()) return visit_let(e);
    if (e.as<Variable>()) return visit_variable(e);
    if (const auto *c = e.as<IntrinsicCall>(); c && has_own_scope(e)) return visit_conditional(*c);
    Expr simple = visit_children(e);
    if (has_effects(e)) impure.insert(simple.get());
    if (impure.count(simple.get())) return chosen_branch(simple);
    if (is_binary(simple.kind())) {
        auto [a, b] = binary_operands(simple);
        return make(simple.kind(), a, b);
    }
    if (const auto *n = simple.as<Not>()) return make_not(n->a);
    if (const auto *n = simple.as<Select>()) {
        return known_condition(make_select(n->condition, n->true_value, n->false_value));
    }
    if (const auto *n = simple.as<Cast>()) return make_cast(n->type, n->value);
    if (const auto *n = simple.as<Broadcast>()) return make_broadcast(n->value, n->lanes);
    if (const auto *n = simple.as<Ramp>()) return make_ramp(n->base, n->stride, n->lanes);
    if (const auto *n = simple.as<Shuffle>()) return make_shuffle(*n);
    if (const auto *n = simple.as<VectorReduce>()) return make_vector_reduce(*n);
    if (const auto *n = simple.as<IntrinsicCall>()) return known_condition(make_call(*n));
    if (const auto *n = simple.as<Load>(); n && n->predicate.defined() && is_true(n->predicate)) {
        return intern(Load::make(n->type, n->buffer, n->index, {}, n->alignment, n->streaming));
    }
    Expr folded = fold_or_undefined(simple);
    return folded.defined() ? folded : known_condition(simple);
}

Expr Simplifier::visit_variable(const Expr &e) {
    Symbol name = e.as<Variable>()->name;
    auto found = known.find(name);
    if (found == known.end()) {
        look_up(name);
        found = known.find(name);
    }
    if (found != known.end()) {
        if (found->second.replacement.defined()) return found->second.replacement;
        ConstantInterval i = interval(intern(e));
        if (i.is_point()) return intern(make_const(e.type(), i.min));
    }
    return known_condition(intern(e));
}

// The same node of simplified operands. One with effects in it is marked, kept alive, and left as
// it is; any other is interned.
Expr Simplifier::visit_children(const Expr &e) {
    bool effects = has_effects(e);
    Expr simple = map_operands(e, [&](const Expr &operand) {
        Expr s = (*this)(operand);
        effects |= !is_pure(s);
        return s;
    });
    if (!effects) return intern(simple);
    keep_impure(simple);
    return simple;
}

void Simplifier::keep_impure(const Expr &e) {
    impure.insert(e.get());
    memo[e.get()] = {e, e, 0};
}

bool Simplifier::is_cheap(const Expr &e) {
    if (e.type().is_handle()) return false;  // a buffer is named by symbol, too
    if (ir::is_const(e) || e.as<Variable>()) return true;
    if (const auto *b = e.as<Broadcast>()) return is_cheap(b->value);
    if (const auto *r = e.as<Ramp>()) return is_cheap(r->base) && ir::is_const(r->stride);
    if (const auto *a = e.as<Add>()) return a->a.as<Variable>() && ir::is_const(a->b);
    if (const auto *s = e.as<Sub>()) return s->a.as<Variable>() && ir::is_const(s->b);
    return false;
}

Simplifier::Bound Simplifier::bind_let(Symbol name, const Expr &value) {
    if (is_pure(value) && is_cheap(value)) {
        replace(name, value);
        return {};
    }
    const auto *ramp = value.as<Ramp>();
    if (ramp && ramp->base.type().is_scalar() && is_pure(value) && ir::is_const(ramp->stride)) {
        Symbol first = Symbol::fresh(str(name.text(), ".first"));
        bind_value(first, ramp->base);
        Expr base = intern(Variable::make(ramp->base.type(), first));
        replace(name, intern(Ramp::make(base, ramp->stride, ramp->lanes)));
        return {first, ramp->base};
    }
    bind_value(name, value);
    return {name, value};
}

Expr Simplifier::visit_let(const Expr &e) {
    std::vector<Bound> kept;
    Expr rest = e;
    enter(false);
    while (const auto *let = rest.as<Let>()) {
        Bound bound = bind_let(let->name, (*this)(let->value));
        if (bound.value.defined()) kept.push_back(bound);
        rest = let->body;
    }
    Expr body = (*this)(rest);
    leave();
    std::unordered_set<Symbol> used;
    std::unordered_set<const ExprNode *> seen;
    auto collect = [&](const Expr &root) {
        for_each_postorder(
            root, [&](const Expr &n) { return seen.count(n.get()) > 0; },
            [&](const Expr &n) {
                seen.insert(n.get());
                for_own_symbol(n, [&](Symbol name) { used.insert(name); });
            });
    };
    collect(body);
    for (size_t i = kept.size(); i-- > 0;) {
        bool effects = !is_pure(kept[i].value);
        if (!used.count(kept[i].name) && !effects) continue;
        collect(kept[i].value);
        effects |= !is_pure(body);
        body = Let::make(kept[i].name, kept[i].value, body);
        if (effects) {
            keep_impure(body);
        } else {
            body = intern(body);
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
        // What is learnt here has everything below be looked at anew.
        if (conditionals == max_conditionals || !is_small(c.args[i])) {
            args.push_back((*this)(c.args[i]));
            continue;
        }
        conditionals++;
        enter(true);
        learn(i == 1 || !is_pure(condition) ? condition : make_not(condition));
        args.push_back((*this)(c.args[i]));
        leave();
        conditionals--;
    }
    if (args.size() == 3 && args[1].same_as(args[2]) && is_pure(condition)) return args[1];
    for (const Expr &a : args) effects |= !is_pure(a);
    Expr call = c.with<&IntrinsicCall::args>(std::move(args));
    if (!effects) {
        Expr folded = fold_or_undefined(call);
        return folded.defined() ? folded : intern(call);
    }
    keep_impure(call);
    return call;
}

Expr Simplifier::make(NodeKind op, const Expr &a, const Expr &b) {
    if (op == NodeKind::GT) return make(NodeKind::LT, b, a);
    if (op == NodeKind::GE) return make(NodeKind::LE, b, a);
    return known_condition(make_normal(op, a, b));
}

Expr Simplifier::make_normal(NodeKind op, const Expr &a, const Expr &b) {
    bool swap =
        is_const(a) && !is_const(b) &&
        (op == NodeKind::Add || op == NodeKind::Mul || op == NodeKind::EQ || op == NodeKind::NE);
    if (swap) return make_normal(op, b, a);
    Type t = a.type();
    bool exact = is_exact(t), number = t.is_int_or_uint();
    if (is_const(a) && is_const(b)) {
        Expr folded = fold_or_undefined(make_node(op, a, b));
        return folded.defined() ? folded : raw(op, a, b);
    }
    if (t.is_vector()) {
        Expr v = make_vector(op, a, b);
        if (v.defined()) return v;
    }
    switch (op) {
    case NodeKind::And:
    case NodeKind::Or: return make_logic(op, a, b);
    case NodeKind::Add:
        if (exact) return make_sum(a, b, 1);
        break;
    case NodeKind::Sub:
        if (exact) return make_sum(a, b, -1);
        break;
    case NodeKind::Min:
    case NodeKind::Max: {
        Expr rewritten = apply_rules(make_node(op, a, b));
        return rewritten.defined() ? rewritten : make_min_max(op, a, b);
    }
    case NodeKind::Div:
    case NodeKind::Mod:
        if (auto k = as_const_int(b); k && exact) {
            Expr r = op == NodeKind::Div ? make_division(a, *k) : make_modulus(a, *k);
            return r.defined() ? r : raw(op, a, b);  // of constants that have overflowed
        }
        break;
    case NodeKind::EQ:
    case NodeKind::NE:
    case NodeKind::LT:
    case NodeKind::LE:
        if (exact) return make_exact_comparison(op, a, b);
        break;
    default: break;
    }
    Expr node = raw(op, a, b), rewritten;
    if (!exact || op != NodeKind::Mul || !is_const(b)) rewritten = apply_rules(node);
    if (rewritten.defined()) return rewritten;
    if (exact && op == NodeKind::Mul) return make_product(a, b);
    if (is_comparison(op) && number) {
        ConstantInterval d = interval(a) - interval(b);
        Expr yes = intern(const_true(t.lanes())), no = intern(const_false(t.lanes()));
        if (op == NodeKind::LT && (d.max < 0 || d.min >= 0)) return d.max < 0 ? yes : no;
        if (op == NodeKind::LE && (d.max <= 0 || d.min > 0)) return d.max <= 0 ? yes : no;
        if (d.max < 0 || d.min > 0) {
            if (op == NodeKind::EQ) return no;
            if (op == NodeKind::NE) return yes;
        }
    } else if (number && !exact) {
        ConstantInterval i = interval(node);
        if (i.is_point()) return intern(make_const(t, i.min));
    } else if (exact && (op == NodeKind::Div || op == NodeKind::Mod)) {
        ConstantInterval i = interval(node);
        if (i.is_point()) return intern(make_const(t, i.min));
    }
    return node;
}

Expr Simplifier::apply_rules(const Expr &node) {
    const rules::RuleTable *table = rules::rules_for(node.kind());
    if (!table || fuel > 100) return {};
    Expr first = is_binary(node.kind()) ? binary_operands(node).first
                 : node.as<Not>()       ? node.as<Not>()->a
                                        : node.as<Select>()->condition;
    for (const rules::Rule &rule : table->for_first_operand(first.kind())) {
        Bindings m;
        if (!match(*rule.before.share(), node, m) || !in_domain(rule.domain, node)) continue;
        if (rule.condition.defined()) {
            auto holds = rules::value_of(*rule.condition.share(), m);
            if (!holds || !*holds) continue;
        }
        fuel++;
        Expr built = build(rule.after.share().get(), &m, node.type());
        fuel--;
        if (built.defined() && built.type() == node.type() && !equal(built, node)) return built;
    }
    return {};
}

Expr Simplifier::build(const void *pattern, const void *bindings, Type expected) {
    const PatternNode &p = *static_cast<const PatternNode *>(pattern);
    const Bindings &m = *static_cast<const Bindings *>(bindings);
    switch (p.form) {
    case PatternNode::Wild: return m.wild[p.index];
    case PatternNode::Constant: return m.constant[p.index];
    case PatternNode::Literal: return intern(make_const(expected, p.value));
    case PatternNode::Folded: {
        Expr constant = rules::folded(p, m, expected);
        return constant.defined() ? intern(constant) : constant;
    }
    case PatternNode::Operation: break;
    }
    Type t = is_comparison(p.op) ? type_of_pattern(p, m) : expected;
    if (!t.defined()) return {};
    Type condition = Bool(expected.lanes());
    if (p.op == NodeKind::Not) {
        Expr a = build(p.operands[0].get(), bindings, condition);
        return a.defined() ? make_not(a) : a;
    }
    std::vector<Expr> built;
    for (size_t i = 0; i < p.operands.size(); i++) {
        bool is_condition = p.op == NodeKind::Select && i == 0;
        built.push_back(build(p.operands[i].get(), bindings, is_condition ? condition : t));
        if (!built.back().defined()) return {};
    }
    if (p.op == NodeKind::Select) {
        if (built[1].type() != built[2].type()) return {};
        return make_select(built[0], built[1], built[2]);
    }
    for (size_t i = 0; i < 2; i++) {
        int lanes = built[1 - i].type().lanes();
        if (lanes > 1 && built[i].type().is_scalar()) built[i] = make_broadcast(built[i], lanes);
    }
    if (built[0].type() != built[1].type()) return {};
    return make(p.op, built[0], built[1]);
}

Expr Simplifier::make_cast(Type t, const Expr &value) {
    if (value.type() == t) return value;
    Expr node = intern(Cast::make(t, value));
    Expr folded = fold_or_undefined(node);
    if (folded.defined()) return folded;
    if (const auto *b = value.as<Broadcast>()) {
        return make_broadcast(make_cast(t.with_lanes(b->value.type().lanes()), b->value), b->lanes);
    }
    const auto *inner = value.as<Cast>();
    Type middle = value.type();
    if (!inner || t.is_bool() || middle.is_bool()) return node;
    bool lossless = middle.can_represent(inner->value.type());
    bool truncating = t.is_int_or_uint() && middle.is_int_or_uint() &&
                      inner->value.type().is_int_or_uint() && t.bits() <= middle.bits();
    // The largest float that fits is another one of each type.
    bool saturates = inner->value.type().is_any_float() && t.is_int_or_uint();
    return (lossless && !saturates) || truncating ? make_cast(t, inner->value) : node;
}

// Whether a << k may lose bits at the top, or change the sign.
bool Simplifier::may_shift_out(const Expr &a, int64_t k) {
    ConstantInterval shifted = interval(a) * ConstantInterval::point(int64_t(1) << k);
    Type t = a.type().element_of();
    return !shifted.bounded() || !t.can_represent(shifted.min) || !t.can_represent(shifted.max);
}

Expr Simplifier::make_call(const IntrinsicCall &c) {
    Expr node = intern(IntrinsicCall::make(c.type, c.op, c.args));
    Expr folded = fold_or_undefined(node);
    if (folded.defined()) return folded;
    if (c.args.empty()) return node;
    const Expr &a = c.args[0];
    bool exact = is_exact(a.type());
    const int64_t k = c.args.size() == 2 ? as_const_int(c.args[1]).value_or(-1) : -1;
    bool power = k >= 0 && k < a.type().bits() - 1;
    switch (c.op) {
    case Intrinsic::strict_float:
        if (!computes_floats(a)) return a;
        break;
    case Intrinsic::abs:
        if (a.type().is_int() && interval(a).min >= 0) return make_cast(c.type, a);
        break;
    case Intrinsic::shift_left:
        // Bits of data may be shifted out, where a product would overflow.
        if (exact && power && !(info(a).origin.is_data() && may_shift_out(a, k))) {
            return make_normal(NodeKind::Mul, a, intern(make_const(a.type(), int64_t(1) << k)));
        }
        break;
    case Intrinsic::shift_right:
        if (exact && power) return make_division(a, int64_t(1) << k);
        break;
    case Intrinsic::bitwise_and:
        if (exact && k > 0 && k < a.type().max_int() && ((k + 1) & k) == 0) {
            return make_modulus(a, k + 1);
        }
        break;
    case Intrinsic::saturating_cast:
        if (a.type().is_int_or_uint() && c.type.is_int_or_uint()) {
            ConstantInterval i = interval(a);
            bool below = i.has_min() && c.type.element_of().can_represent(i.min);
            bool above = i.has_max() && c.type.element_of().can_represent(i.max);
            if (c.type.can_represent(a.type()) || (below && above)) return make_cast(c.type, a);
        }
        break;
    default: break;
    }
    return node;
}

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
