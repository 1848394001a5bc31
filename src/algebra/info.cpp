#include "algebra/common_divisor.h"
#include "algebra/simplifier.h"
#include "algebra/walk.h"
#include "ir/operators.h"

// What is known of simplified expressions: constant intervals, alignments, and facts.
namespace tessera::algebra {

using namespace ir;

namespace {

__extension__ using Wide = __int128;

// The interval if no value of it wraps in the type, else all values of the type.
ConstantInterval unless_wrapped(Type t, const ConstantInterval &i) {
    return i.fits(t) ? i : ConstantInterval::of_type(t);
}

// All values of the type, also of those whose arithmetic is taken not to overflow; of 64 bits,
// what stands for unbounded.
ConstantInterval range_of(Type t) {
    if (t.bits() >= 64) return ConstantInterval::of_type(t);
    return {t.element_of().min_int(), t.element_of().max_int()};
}

Alignment reduced(int64_t modulus, Wide remainder) {
    modulus = common_divisor(modulus, 0);
    if (modulus == 0) {
        bool fits = remainder >= ConstantInterval::lowest && remainder <= ConstantInterval::highest;
        return fits ? Alignment{0, int64_t(remainder)} : Alignment{1, 0};
    }
    int64_t r = int64_t(remainder % modulus);
    return {modulus, r < 0 ? r + modulus : r};
}

Alignment scaled(const Alignment &a, int64_t factor) {
    int64_t modulus = 0;
    if (__builtin_mul_overflow(a.modulus, factor, &modulus)) return {1, 0};
    return reduced(modulus, Wide(a.remainder) * factor);
}

Alignment sum(const Alignment &a, const Alignment &b) {
    return reduced(common_divisor(a.modulus, b.modulus), Wide(a.remainder) + b.remainder);
}

Alignment product(const Alignment &a, const Alignment &b) {
    int64_t mm = 0, mr = 0, rm = 0;
    if (__builtin_mul_overflow(a.modulus, b.modulus, &mm) ||
        __builtin_mul_overflow(a.modulus, b.remainder, &mr) ||
        __builtin_mul_overflow(a.remainder, b.modulus, &rm)) {
        return {1, 0};
    }
    return reduced(common_divisor(mm, common_divisor(mr, rm)), Wide(a.remainder) * b.remainder);
}

// What holds of both.
Alignment either(const Alignment &a, const Alignment &b) {
    Wide difference = Wide(a.remainder) - b.remainder;
    if (difference > ConstantInterval::highest || difference <= ConstantInterval::lowest) {
        return {1, 0};
    }
    return reduced(common_divisor(common_divisor(a.modulus, b.modulus), int64_t(difference)),
                   a.remainder);
}

}  // namespace

Simplifier::Info Simplifier::info(const Expr &e) {
    const Info *found = infos.find(e.get());
    if (found && usable(found->scope)) return *found;
    intern(e);  // keeps the key alive
    Info computed = compute_info(e);
    computed.scope = scopes.back().serial;
    return infos[e.get()] = computed;
}

ConstantInterval Simplifier::interval(const Expr &e) { return info(e).interval; }

Alignment Simplifier::alignment(const Expr &e) { return info(e).alignment; }

Simplifier::Info Simplifier::compute_info(const Expr &e) {
    Info i;
    i.interval = compute_interval(e);
    i.alignment = {1, 0};
    i.origin = compute_origin(e);
    if (e.type().is_int_or_uint()) i.alignment = compute_alignment(e);
    auto atom = atom_intervals.find(e.get());
    if (atom != atom_intervals.end()) i.interval = intersect(i.interval, atom->second);
    if (i.alignment.modulus == 0) i.interval = ConstantInterval::point(i.alignment.remainder);
    return i;
}

ConstantInterval Simplifier::interval(const LinearForm &f) {
    ConstantInterval r = ConstantInterval::point(f.constant);
    for (const LinearTerm &t : f.terms) {
        r = r + interval(t.atom) * ConstantInterval::point(t.coefficient);
    }
    return r;
}

namespace {

// Coordinates are within half of their type, and so is their sum with a number that is within a
// quarter. What they are multiplied with is a stride, a tile's size or a scale.
bool is_large_number(int64_t v, Type t) {
    int64_t quarter = (t.max_int() >> 2) + 1;
    return v < -quarter || v > quarter;
}
bool is_large_factor(int64_t v, Type t) {
    int64_t most = int64_t(1) << (t.bits() / 2);
    return v < -most || v > most;
}

}  // namespace

bool Simplifier::may_overflow(const LinearForm &f, Type t) {
    Type element = t.element_of();
    bool is_atom = f.constant == 0 && f.terms.size() == 1;
    bool is_data = is_large_number(f.constant, element);
    for (const LinearTerm &term : f.terms) {
        is_data |= info(term.atom).origin.is_data() || is_large_factor(term.coefficient, element);
        is_atom &= term.coefficient == 1;
    }
    if (is_atom || !is_data) return false;
    ConstantInterval i = interval(f);
    return !i.bounded() || !element.can_represent(i.min) || !element.can_represent(i.max);
}

Simplifier::Origin Simplifier::compute_origin(const Expr &e) {
    const Origin read{true, false, false};
    Type t = e.type().element_of();
    if (!t.is_int_or_uint()) return read;
    switch (e.kind()) {
    case NodeKind::IntImm: return {false, false, is_large_number(e.as<IntImm>()->value, t)};
    case NodeKind::Mul: {
        const auto *m = e.as<Mul>();
        auto factor = as_const_int(m->b);
        Origin large{false, false, factor && is_large_factor(*factor, t)};
        return info(m->a).origin | (factor ? large : info(m->b).origin);
    }
    case NodeKind::Call:
    case NodeKind::ExternCall:
    case NodeKind::Load:
    case NodeKind::Let: return read;  // of a let it is not known: each look inside takes a scope
    case NodeKind::IntrinsicCall: return is_likely(e) ? Origin{} : read;
    case NodeKind::Variable: {
        const auto &v = *e.as<Variable>();
        if (v.referent && v.referent->is_scalar_argument()) return {false, true, false};
        auto found = known.find(v.name);
        return found != known.end() ? found->second.origin : Origin{};
    }
    case NodeKind::Select: {
        const auto *s = e.as<Select>();
        return info(s->true_value).origin | info(s->false_value).origin;
    }
    default: {
        Origin all;
        for_each_operand(e, [&](const Expr &operand) { all = all | info(operand).origin; });
        return all;
    }
    }
}

// A remainder: the atom, or the value of the let that it names; null if it is none.
const Mod *Simplifier::as_remainder(const Expr &atom) {
    const Expr *e = &atom;
    if (const auto *v = atom.as<Variable>()) {
        auto found = known.find(v->name);
        if (found == known.end() || !found->second.value.defined()) return nullptr;
        e = &found->second.value;
    }
    const auto *mod = e->as<Mod>();
    auto k = mod && is_exact(e->type()) ? as_const_int(mod->b) : std::nullopt;
    return k && *k > 0 ? mod : nullptr;
}

// Remainders by k are what they are of, but for a multiple of k: so x - (x + 1) % 2 is odd.
Alignment Simplifier::alignment(const LinearForm &f) {
    Alignment r{0, f.constant};
    for (const LinearTerm &t : f.terms) r = sum(r, scaled(alignment(t.atom), t.coefficient));
    Alignment up_to{0, 0};  // what the remainders are known up to
    std::optional<LinearForm> without = f;
    for (const LinearTerm &t : f.terms) {
        const Mod *mod = as_remainder(t.atom);
        if (!mod || !without) continue;
        up_to = sum(up_to, scaled({as_const_int(mod->b).value_or(1), 0}, t.coefficient));
        without = add(*without, LinearForm{{{t.atom, 1}}, 0}, -t.coefficient);
        if (without) without = add(*without, form(mod->a), t.coefficient);
    }
    if (!without || up_to.modulus <= 1) return r;
    for (const LinearTerm &t : without->terms) {
        up_to = sum(up_to, scaled(alignment(t.atom), t.coefficient));
    }
    up_to = sum(up_to, {0, without->constant});
    // Of two alignments, the finer one: both hold.
    return r.modulus != 0 && up_to.modulus > r.modulus ? up_to : r;
}

ConstantInterval Simplifier::compute_interval(const Expr &e) {
    Type t = e.type();
    if (!t.is_int_or_uint()) return {};
    if (auto c = as_const_int(e)) return ConstantInterval::point(*c);
    if (is_exact(t)) {
        const LinearForm &f = form(e);
        bool itself = f.terms.size() == 1 && f.constant == 0 && f.terms[0].atom.same_as(e);
        if (!itself) return interval(f);
    }
    ConstantInterval all = ConstantInterval::of_type(t);
    switch (e.kind()) {
    case NodeKind::Variable: {
        auto found = known.find(e.as<Variable>()->name);
        return found == known.end() ? all : intersect(all, found->second.constants);
    }
    case NodeKind::Cast: {
        Type from = e.as<Cast>()->value.type();
        if (!from.is_int_or_uint()) return all;
        ConstantInterval i = interval(e.as<Cast>()->value);
        if (!is_exact(t)) return unless_wrapped(t, i);
        return t.can_represent(from) || (t.bits() == 64 && i.bounded()) ||
                       (i.bounded() && t.element_of().can_represent(i.min) &&
                        t.element_of().can_represent(i.max))
                   ? i
                   : all;
    }
#define ARITHMETIC(T, op)                                                                          \
    case NodeKind::T: return unless_wrapped(t, interval(e.as<T>()->a) op interval(e.as<T>()->b));
        ARITHMETIC(Add, +)
        ARITHMETIC(Sub, -)
        ARITHMETIC(Mul, *)
        ARITHMETIC(Div, /)
        ARITHMETIC(Mod, %)
#undef ARITHMETIC
    case NodeKind::Min: return min(interval(e.as<Min>()->a), interval(e.as<Min>()->b));
    case NodeKind::Max: return max(interval(e.as<Max>()->a), interval(e.as<Max>()->b));
    case NodeKind::Select: {
        const auto *s = e.as<Select>();
        return unite(interval(s->true_value), interval(s->false_value));
    }
    case NodeKind::Broadcast: return interval(e.as<Broadcast>()->value);
    case NodeKind::Ramp: {
        const auto *r = e.as<Ramp>();
        ConstantInterval steps{0, r->lanes - 1};
        return unless_wrapped(t, interval(r->base) + interval(r->stride) * steps);
    }
    case NodeKind::Let: {
        enter(false);
        bind_value(e.as<Let>()->name, e.as<Let>()->value);
        ConstantInterval i = interval(e.as<Let>()->body);
        leave();
        return i;
    }
    case NodeKind::Shuffle: {
        const auto &vectors = e.as<Shuffle>()->vectors;
        ConstantInterval i = interval(vectors[0]);
        for (const Expr &v : vectors) i = unite(i, interval(v));
        return i;
    }
    case NodeKind::VectorReduce: {
        const auto *r = e.as<VectorReduce>();
        ConstantInterval i = interval(r->value);
        int factor = r->value.type().lanes() / r->lanes;
        if (r->op == ReduceOp::Add) {
            return unless_wrapped(t, i * ConstantInterval::point(factor));
        }
        return r->op == ReduceOp::Min || r->op == ReduceOp::Max ? i : all;
    }
    case NodeKind::IntrinsicCall: return interval_of_call(*e.as<IntrinsicCall>());
    default: return all;
    }
}

ConstantInterval Simplifier::interval_of_call(const IntrinsicCall &c) {
    Type t = c.type;
    ConstantInterval all = ConstantInterval::of_type(t), zero = ConstantInterval::point(0);
    auto is_number = [&](size_t i) { return c.args[i].type().is_int_or_uint(); };
    auto arg = [&](size_t i) { return is_number(i) ? interval(c.args[i]) : ConstantInterval(); };
    switch (c.op) {
    case Intrinsic::likely:
    case Intrinsic::likely_if_innermost:
    case Intrinsic::strict_float: return arg(0);
    case Intrinsic::promise_clamped:
    case Intrinsic::unsafe_promise_clamped: return intersect(arg(0), {arg(1).min, arg(2).max});
    case Intrinsic::return_second: return arg(1);
    case Intrinsic::if_then_else: return unite(arg(1), c.args.size() == 3 ? arg(2) : zero);
    case Intrinsic::abs: {
        if (!is_number(0)) return all;
        ConstantInterval magnitude = max(arg(0), zero - arg(0));
        return unless_wrapped(t, max(magnitude, zero));
    }
    case Intrinsic::absd: {
        if (!is_number(0)) return all;
        ConstantInterval d = arg(0) - arg(1);
        return unless_wrapped(t, max(max(d, zero - d), zero));
    }
    case Intrinsic::bitwise_and: {
        ConstantInterval a = arg(0), b = arg(1);
        if (a.min >= 0 && b.min >= 0) return {0, std::min(a.max, b.max)};
        if (a.min >= 0) return {0, a.max};
        return b.min >= 0 ? ConstantInterval{0, b.max} : all;
    }
    case Intrinsic::bitwise_or:
    case Intrinsic::bitwise_xor: {
        ConstantInterval a = arg(0), b = arg(1);
        if (a.min < 0 || b.min < 0 || !a.has_max() || !b.has_max()) return all;
        uint64_t bits = uint64_t(a.max) | uint64_t(b.max), ones = 1;
        while (ones - 1 < bits && ones < uint64_t(1) << 62) ones <<= 1;
        return unless_wrapped(t, {0, bits < ones ? int64_t(ones - 1) : ConstantInterval::highest});
    }
    case Intrinsic::shift_right: {
        auto k = as_const_int(c.args[1]);
        if (!k || *k < 0 || *k >= t.bits() || *k > 62) return all;
        return arg(0) / ConstantInterval::point(int64_t(1) << *k);
    }
    case Intrinsic::shift_left: {
        auto k = as_const_int(c.args[1]);
        if (!k || *k < 0 || *k >= t.bits() || *k > 62) return all;
        ConstantInterval shifted = arg(0) * ConstantInterval::point(int64_t(1) << *k);
        return range_of(t).contains(shifted) ? shifted : all;
    }
    case Intrinsic::popcount:
    case Intrinsic::count_leading_zeros:
    case Intrinsic::count_trailing_zeros: return {0, c.args[0].type().bits()};
    case Intrinsic::saturating_cast:
        if (!is_number(0)) return all;
        return min(max(arg(0), ConstantInterval::point(range_of(t).min)),
                   ConstantInterval::point(range_of(t).max));
    case Intrinsic::widening_add:
    case Intrinsic::widen_right_add: return unless_wrapped(t, arg(0) + arg(1));
    case Intrinsic::widening_sub:
    case Intrinsic::widen_right_sub: return unless_wrapped(t, arg(0) - arg(1));
    case Intrinsic::widening_mul:
    case Intrinsic::widen_right_mul: return unless_wrapped(t, arg(0) * arg(1));
    case Intrinsic::halving_add:
        return unless_wrapped(t, (arg(0) + arg(1)) / ConstantInterval::point(2));
    case Intrinsic::rounding_halving_add:
        return unless_wrapped(t, (arg(0) + arg(1) + ConstantInterval::point(1)) /
                                     ConstantInterval::point(2));
    default: return all;
    }
}

Alignment Simplifier::compute_alignment(const Expr &e) {
    if (auto c = as_const_int(e)) return {0, *c};
    if (!is_exact(e.type())) return {1, 0};
    const LinearForm &f = form(e);
    bool itself = f.terms.size() == 1 && f.constant == 0 && f.terms[0].atom.same_as(e);
    if (!itself) return alignment(f);
    switch (e.kind()) {
    case NodeKind::Variable: {
        auto found = known.find(e.as<Variable>()->name);
        return found == known.end() ? Alignment{1, 0} : found->second.alignment;
    }
    case NodeKind::Cast: {
        const Expr &v = e.as<Cast>()->value;
        return is_exact(v.type()) && e.type().bits() >= v.type().bits() ? alignment(v)
                                                                        : Alignment{1, 0};
    }
    case NodeKind::Mul: return product(alignment(e.as<Mul>()->a), alignment(e.as<Mul>()->b));
    case NodeKind::Min: return either(alignment(e.as<Min>()->a), alignment(e.as<Min>()->b));
    case NodeKind::Max: return either(alignment(e.as<Max>()->a), alignment(e.as<Max>()->b));
    case NodeKind::Select:
        return either(alignment(e.as<Select>()->true_value),
                      alignment(e.as<Select>()->false_value));
    case NodeKind::Mod: {
        // u % k is u minus a multiple of k; but it is 0 for k == 0.
        auto k = as_const_int(e.as<Mod>()->b);
        if (!k || *k == 0) return {1, 0};
        return sum(alignment(e.as<Mod>()->a), Alignment{common_divisor(*k, 0), 0});
    }
    case NodeKind::Div: {
        auto k = as_const_int(e.as<Div>()->b);
        Alignment a = alignment(e.as<Div>()->a);
        if (!k || *k <= 0 || a.modulus % *k != 0) return {1, 0};
        return reduced(a.modulus / *k, floor_div(a.remainder, *k));
    }
    case NodeKind::Broadcast: return alignment(e.as<Broadcast>()->value);
    case NodeKind::Ramp: {
        if (e.as<Ramp>()->base.type().is_vector()) return {1, 0};
        Alignment base = alignment(e.as<Ramp>()->base), step = alignment(e.as<Ramp>()->stride);
        return sum(base, Alignment{common_divisor(step.modulus, step.remainder), 0});
    }
    case NodeKind::IntrinsicCall: {
        const auto *c = e.as<IntrinsicCall>();
        bool same = is_likely(e) || c->op == Intrinsic::promise_clamped ||
                    c->op == Intrinsic::unsafe_promise_clamped;
        return same ? alignment(c->args[0]) : Alignment{1, 0};
    }
    default: return {1, 0};
    }
}

bool Simplifier::is_stable(const Expr &e) {
    for_each_postorder(
        e, [&](const Expr &n) { return stable.find(n.get()) != nullptr; },
        [&](const Expr &n) {
            bool ok = is_pure(n) && !n.as<Load>() && !n.as<Call>() && !n.as<ExternCall>();
            if (const auto *c = n.as<IntrinsicCall>()) ok &= info_of(c->op).pure;
            for_each_operand(n, [&](const Expr &operand) { ok &= *stable.find(operand.get()); });
            stable[n.get()] = ok;
            if (is_pure(n)) intern(n);
        });
    return *stable.find(e.get());
}

uint64_t Simplifier::variables_of(const Expr &e) {
    if (const uint64_t *found = variable_masks.find(e.get())) return *found;
    for_each_postorder(
        e, [&](const Expr &n) { return variable_masks.find(n.get()) != nullptr; },
        [&](const Expr &n) {
            uint64_t mask = 0;
            if (const auto *v = n.as<Variable>()) mask |= leaf_of(v->name);
            if (n.as<BufferProperty>() || n.as<Load>()) mask |= uint64_t(7) << 61;
            for_each_operand(n, [&](const Expr &o) { mask |= *variable_masks.find(o.get()); });
            variable_masks[n.get()] = mask;
        });
    return *variable_masks.find(e.get());
}

void Simplifier::enter(bool facts) {
    Scope s;
    s.serial = next_serial++;
    s.facts = facts;
    s.leaves_of_facts = leaves_of_facts;
    active.insert(s.serial);
    if (facts) oldest_usable = s.serial;
    scopes.push_back(std::move(s));
}

void Simplifier::leave() {
    Scope s = std::move(scopes.back());
    scopes.pop_back();
    leaves_of_facts = s.leaves_of_facts;
    active.erase(s.serial);
    for (size_t i = s.known.size(); i-- > 0;) {
        auto &[symbol, before] = s.known[i];
        if (before) {
            known[symbol] = *before;
        } else {
            known.erase(symbol);
        }
    }
    for (size_t i = s.atoms.size(); i-- > 0;) {
        auto &[atom, before] = s.atoms[i];
        if (before) {
            atom_intervals[atom.get()] = *before;
        } else {
            atom_intervals.erase(atom.get());
        }
    }
    for (const Expr &e : s.truths) truths.erase(e);
    for (const Expr &e : s.falsehoods) falsehoods.erase(e);
    for (const ExprNode *atom : s.inequality_atoms) inequalities[atom].pop_back();
    oldest_usable = 0;
    for (size_t i = scopes.size(); i-- > 0 && oldest_usable == 0;) {
        if (scopes[i].facts) oldest_usable = scopes[i].serial;
    }
}

void Simplifier::remember(Symbol s) {
    auto found = known.find(s);
    scopes.back().known.emplace_back(s, found == known.end() ? std::nullopt
                                                             : std::optional(found->second));
    known[s] = Known();
}

// Binds a variable to what the facts say of it, in this scope: what else is known here may have
// gone into it.
void Simplifier::look_up(Symbol s) {
    auto interval = given.intervals.find(s);
    auto alignment = given.alignments.find(s);
    if (interval != given.intervals.end()) {
        remember(s);  // a bound of it that names the variable itself finds it bound
        auto simplified = [&](const Expr &e) { return e.defined() ? (*this)(e) : e; };
        Interval i{simplified(interval->second.min), simplified(interval->second.max)};
        bind(s, i);
    }
    if (alignment == given.alignments.end()) return;
    if (interval == given.intervals.end()) remember(s);
    known[s].alignment = alignment->second;
}

void Simplifier::bind(Symbol s, const Interval &i) {
    Known k;
    if (i.min.defined()) {
        k.constants.min = interval(i.min).min;
        if (is_stable(i.min)) k.symbolic.min = i.min;
    }
    if (i.max.defined()) {
        k.constants.max = interval(i.max).max;
        if (is_stable(i.max)) k.symbolic.max = i.max;
    }
    if (k.symbolic.min.defined() || k.symbolic.max.defined()) {
        k.trend = trend_between(k.symbolic, k.constants, leaf_of(s));
    }
    remember(s);
    known[s] = k;
}

void Simplifier::bind_value(Symbol s, const Expr &value) {
    Known k;
    k.origin.is_read = true;
    if (is_pure(value)) {
        if (value.type().is_int_or_uint()) {
            k.origin = info(value).origin;
            k.origin.is_passed = false;  // what lowering makes of arguments are ends of regions
            k.constants = interval(value);
            k.alignment = alignment(value);
        }
        if (is_stable(value) && is_exact(value.type())) {
            k.value = value;
            k.trend = trend_of(value);
        }
    }
    remember(s);
    known[s] = k;
}

void Simplifier::replace(Symbol s, const Expr &value) {
    remember(s);
    known[s].replacement = value;
}

void Simplifier::learn(const Expr &condition) {
    if (!is_pure(condition) || is_const(condition) || !is_stable(condition)) return;
    if (is_likely(condition)) return learn(condition.as<IntrinsicCall>()->args[0]);
    if (const auto *b = condition.as<Broadcast>()) return learn(b->value);
    if (const auto *a = condition.as<And>()) {
        learn(a->a);
        return learn(a->b);
    }
    if (const auto *no = condition.as<Not>(); no && no->a.as<And>()) {
        const auto &both = *no->a.as<And>();
        const Expr either = make(NodeKind::Or, make_not(both.a), make_not(both.b));
        if (!is_const(either) && !either.as<Not>()) learn(either);
    }
    Expr opposite = make_not(condition);
    if (truths.insert(condition).second) scopes.back().truths.push_back(condition);
    if (!is_const(opposite) && falsehoods.insert(opposite).second) {
        scopes.back().falsehoods.push_back(opposite);
    }
    learn_comparison(condition);
}

// What decisions about inequalities use of a condition.
void Simplifier::learn_inequalities(const Expr &condition) {
    if (is_likely(condition)) {
        learn_inequalities(condition.as<IntrinsicCall>()->args[0]);
    } else if (const auto *a = condition.as<And>()) {
        learn_inequalities(a->a);
        learn_inequalities(a->b);
    } else if (is_pure(condition) && is_stable(condition)) {
        learn_comparison(condition);
    }
}

void Simplifier::learn_comparison(const Expr &condition) {
    auto difference = [&](const Expr &big, const Expr &small, int64_t less) {
        if (!is_exact(big.type()) || big.type().is_vector()) return;
        auto f = add(form(big), form(small), -1);
        if (f) f = add(*f, LinearForm{{}, less}, -1);
        if (f) learn_inequality(*f);
    };
    if (const auto *n = condition.as<LT>()) difference(n->b, n->a, 1);
    if (const auto *n = condition.as<LE>()) difference(n->b, n->a, 0);
    if (const auto *n = condition.as<EQ>()) {
        difference(n->a, n->b, 0);
        difference(n->b, n->a, 0);
    }
}

void Simplifier::learn_inequality(const LinearForm &f) {
    searches.clear();
    Trend trend = trend_of(with_values(f));
    leaves_of_facts |= trend.rising | trend.falling;
    for (const LinearTerm &t : f.terms) {
        inequalities[t.atom.get()].push_back(f);
        scopes.back().inequality_atoms.push_back(t.atom.get());
    }
    if (f.terms.size() != 1) return;
    const LinearTerm &t = f.terms[0];
    // c * atom + constant >= 0
    ConstantInterval now = interval(t.atom), next = now;
    int64_t size = std::abs(t.coefficient);
    if (f.constant == ConstantInterval::lowest) return;
    if (t.coefficient > 0) next.min = std::max(next.min, ceil_div(-f.constant, size));
    if (t.coefficient < 0) next.max = std::min(next.max, floor_div(f.constant, size));
    if (next.min > next.max) return;
    auto found = atom_intervals.find(t.atom.get());
    scopes.back().atoms.emplace_back(
        t.atom, found == atom_intervals.end() ? std::nullopt : std::optional(found->second));
    atom_intervals[t.atom.get()] = next;
    infos[t.atom.get()] = Info();
}

}  // namespace tessera::algebra
