#include "algebra/node_info.h"
#include "algebra/walk.h"
#include "ir/operators.h"

namespace tessera::algebra {

using namespace ir;

bool is_atom(const LinearForm &f, const Expr &e) {
    return f.terms.size() == 1 && f.constant == 0 && f.terms[0].atom.same_as(e);
}

bool is_likely(const Expr &e) {
    const auto *c = e.as<IntrinsicCall>();
    return c && (c->op == Intrinsic::likely || c->op == Intrinsic::likely_if_innermost);
}

NodeInfo::Info NodeInfo::info(const Expr &e) {
    const Info *found = infos.find(e.get());
    if (found && facts.is_usable(found->scope)) return *found;
    nodes.intern(e);  // keeps the key alive
    Info computed = compute_info(e);
    computed.scope = facts.scope();
    return infos[e.get()] = computed;
}

NodeInfo::Info NodeInfo::compute_info(const Expr &e) {
    Info i;
    i.interval = compute_interval(e);
    i.alignment = {1, 0};
    i.origin = compute_origin(e);
    if (e.type().is_int_or_uint()) i.alignment = compute_alignment(e);
    if (const auto *known = facts.interval_of(e)) i.interval = intersect(i.interval, *known);
    if (i.alignment.modulus == 0) i.interval = ConstantInterval::point(i.alignment.remainder);
    return i;
}

ConstantInterval NodeInfo::interval(const LinearForm &f) {
    ConstantInterval r = ConstantInterval::point(f.constant);
    for (const LinearTerm &t : f.terms) {
        r = r + interval(t.atom) * ConstantInterval::point(t.coefficient);
    }
    return r;
}

namespace {

// Coordinates are within half of their type, and so is their sum with a number that is within a
// quarter. Their factors are strides, sizes of tiles or scales.
bool is_large_number(int64_t v, Type t) {
    int64_t quarter = (t.max_int() >> 2) + 1;
    return v < -quarter || v > quarter;
}
bool is_large_factor(int64_t v, Type t) {
    int64_t most = int64_t(1) << (t.bits() / 2);
    return v < -most || v > most;
}

// Returns true if the value is a coordinate where the operands are.
bool is_made_of_operands(Intrinsic op) {
    switch (op) {
    case Intrinsic::likely:
    case Intrinsic::likely_if_innermost:
    case Intrinsic::promise_clamped:
    case Intrinsic::unsafe_promise_clamped:
    case Intrinsic::return_second:
    case Intrinsic::abs:
    case Intrinsic::absd: return true;
    default: return false;
    }
}

}  // namespace

bool NodeInfo::may_overflow(const LinearForm &f, Type t) { return may_exceed(f, t, true); }

// Coordinates with data that is within a quarter of the type are coordinates, too.
bool NodeInfo::may_exceed(const LinearForm &f, Type t, bool counts_all) {
    if (f.terms.size() == 1 && f.constant == 0 && f.terms[0].coefficient == 1) return false;
    const Type element = t.element_of();
    LinearForm data{{}, f.constant};
    for (const LinearTerm &term : f.terms) {
        const Origin o = origin(term.atom);
        const bool is_large = o.is_large || is_large_factor(term.coefficient, element);
        const bool is_data = o.is_read || (counts_all && (o.is_passed || is_large));
        if (is_data) data.terms.push_back(term);
    }
    const bool is_large = counts_all && is_large_number(f.constant, element);
    if (data.terms.empty() && !is_large) return false;
    const ConstantInterval all = interval(f), part = interval(data);
    if (fits_in(element, all)) return false;
    const bool has_coordinates = data.terms.size() < f.terms.size();
    return !has_coordinates || !part.bounded() || is_large_number(part.min, element) ||
           is_large_number(part.max, element);
}

const LinearForm &NodeInfo::exact_form(const Expr &e) {
    const LinearForm &f = forms.of(e);
    return may_exceed(f, e.type(), is_strict()) ? forms.as_atom(e) : f;
}

Origin NodeInfo::compute_origin(const Expr &e) {
    const Origin read{true, false, false};
    Type t = e.type().element_of();
    if (!t.is_int_or_uint()) return read;
    switch (e.kind()) {
    case NodeKind::IntImm: return {false, false, is_large_number(e.as<IntImm>()->value, t)};
    case NodeKind::Mul: {
        const auto *m = e.as<Mul>();
        auto factor = as_const_int(m->b);
        Origin large{false, false, factor && is_large_factor(*factor, t)};
        return origin(m->a) | (factor ? large : origin(m->b));
    }
    case NodeKind::Call:
    case NodeKind::ExternCall:
    case NodeKind::Load:
    case NodeKind::Let: return read;  // of a let it is not known: each look inside takes a scope
    case NodeKind::IntrinsicCall: {
        const auto *c = e.as<IntrinsicCall>();
        return is_made_of_operands(c->op) ? origin_of_operands(e) : read;
    }
    case NodeKind::Variable: {
        const auto &v = *e.as<Variable>();
        if (v.referent && v.referent->is_scalar_argument()) return {false, true, false};
        const KnownVariable *known = facts.find(v.name);
        return known ? known->origin : Origin{};
    }
    case NodeKind::Select: {
        const auto *s = e.as<Select>();
        return origin(s->true_value) | origin(s->false_value);
    }
    default: return origin_of_operands(e);
    }
}

Origin NodeInfo::origin_of_operands(const Expr &e) {
    Origin all;
    for_each_operand(e, [&](const Expr &operand) { all = all | origin(operand); });
    return all;
}

bool NodeInfo::is_stable(const Expr &e) {
    for_each_postorder(
        e, [&](const Expr &n) { return stable.find(n.get()) != nullptr; },
        [&](const Expr &n) {
            bool ok = nodes.is_pure(n) && !n.as<Load>() && !n.as<Call>() && !n.as<ExternCall>();
            if (const auto *c = n.as<IntrinsicCall>()) ok &= info_of(c->op).pure;
            for_each_operand(n, [&](const Expr &operand) { ok &= *stable.find(operand.get()); });
            stable[n.get()] = ok;
            if (nodes.is_pure(n)) nodes.intern(n);
        });
    return *stable.find(e.get());
}

KnownVariable NodeInfo::variable_of(const Expr &value) {
    KnownVariable k;
    k.origin.is_read = true;
    if (!nodes.is_pure(value)) return k;
    if (value.type().is_int_or_uint()) {
        k.origin = origin(value);
        // Lowering turns arguments into ends of regions.
        if (arguments == Arguments::AreCoordinates) k.origin.is_passed = false;
        k.constants = interval(value);
        k.alignment = alignment(value);
    }
    if (is_stable(value) && is_exact(value.type())) k.value = value;
    return k;
}

bool NodeInfo::has_value(const Expr &atom) const {
    const auto *v = atom.as<Variable>();
    const KnownVariable *known = v ? facts.find(v->name) : nullptr;
    return known && known->value.defined();
}

LinearForm NodeInfo::with_values(LinearForm f) {
    constexpr int max_values = 16;
    size_t i = 0;
    for (int count = 0; i < f.terms.size() && count < max_values;) {
        const Expr &atom = f.terms[i].atom;
        std::optional<LinearForm> next;
        if (has_value(atom)) {
            next = substitute(f, f.terms[i], facts.find(atom.as<Variable>()->name)->value);
        }
        if (next) {
            f = *next;
            i = 0;
            count++;
        } else {
            i++;
        }
    }
    return f;
}

}  // namespace tessera::algebra
