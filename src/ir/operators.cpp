#include "ir/operators.h"
#include "base/dialect.h"
#include "base/float16.h"
#include "ir/float_bits.h"
#include "ir/printer.h"
#include "ir/visitor.h"
#include <cmath>
#include <functional>

namespace tessera::ir {
namespace {

__extension__ using Wide = __int128;  // no operation on two int64 overflows it

void require_defined(const Expr &e, const char *operation, const Location &at) {
    if (e.defined()) return;
    throw CompileError(at, str("operator ", operation, " of an undefined Expr"));
}

bool is_imm(const Expr &e) { return e.as<IntImm>() || e.as<UIntImm>() || e.as<FloatImm>(); }

// The integer, rounded once: what is made of a double is rounded to the type.
template<typename I>
Expr rounded(Type t, I value) {
    return FloatImm::make(t, t.bits() == 64 ? double(value) : rounded_to_odd(value));
}

// The constant in type t, or undefined if t cannot represent it exactly (a float may be rounded).
Expr constant_in(Type t, const Expr &e) {
    Type s = t.element_of();
    if (const auto *i = e.as<IntImm>()) {
        if (s.is_float()) return rounded(s, i->value);
        if (s.can_represent(i->value)) return make_const(s, i->value);
    } else if (const auto *u = e.as<UIntImm>()) {
        if (s.is_float()) return rounded(s, u->value);
        if (s.can_represent(u->value)) return make_const(s, int64_t(u->value));
    } else if (const auto *f = e.as<FloatImm>()) {
        if (s.is_float()) return FloatImm::make(s, f->value);
    }
    return {};
}

// A bound that the type of the value cannot hold would become another one.
Expr bound_of_clamp(Expr bound, Type t, const Location &at) {
    bool fits = is_const(bound)
                    ? may_hold(t, bound)
                    : t.is_float() || t.element_of().can_represent(bound.type().element_of());
    if (fits) return cast(t, std::move(bound), at);
    throw CompileError(at, is_const(bound)
                               ? str("clamp: ", bound, " is no value of type ", t,
                                     ", that of what is clamped; cast that to a wider type")
                               : str("clamp: a bound of type ", bound.type(),
                                     " may be no value of type ", t,
                                     ", that of what is clamped; cast one of them"));
}

Type common_type(Type a, Type b) {
    if (a == b) return a;
    if (a.is_handle() || b.is_handle()) return {};
    if (a.is_float() && b.is_float()) {
        if (a.bits() != b.bits()) return a.bits() > b.bits() ? a : b;
        return {};
    }
    if (a.is_float()) return a;
    if (b.is_float()) return b;
    int bits = std::max(a.bits(), b.bits());
    if (a.is_uint() && b.is_uint()) return UInt(bits);
    return Int(bits);
}

void match_lanes(Expr &a, Expr &b) {
    int n = a.type().lanes(), m = b.type().lanes();
    if (n == m) return;
    if (n == 1) {
        a = Broadcast::make(std::move(a), m);
    } else if (m == 1) {
        b = Broadcast::make(std::move(b), n);
    } else {
        throw CompileError(str("cannot combine vectors of ", n, " and ", m, " lanes: ", a.type(),
                               " and ", b.type()));
    }
}

// Returns true if one of two values with as many lanes is a constant that has been given the
// other's type. A broadcast constant counts as a constant, too.
bool constant_takes_type(Expr &a, Expr &b) {
    Type element_a = a.type().element_of(), element_b = b.type().element_of();
    if (is_imm(b) && !is_imm(a)) {
        Expr same = constant_in(element_a, b);
        if (same.defined()) return b = same, true;
    }
    if (is_imm(a) && !is_imm(b)) {
        Expr same = constant_in(element_b, a);
        if (same.defined()) return a = same, true;
    }
    const auto *splat_a = a.as<Broadcast>(), *splat_b = b.as<Broadcast>();
    if (splat_b && is_imm(splat_b->value) && !(splat_a && is_imm(splat_a->value))) {
        Expr same = constant_in(element_a, splat_b->value);
        if (same.defined()) return b = Broadcast::make(same, a.type().lanes()), true;
    }
    if (splat_a && is_imm(splat_a->value) && !(splat_b && is_imm(splat_b->value))) {
        Expr same = constant_in(element_b, splat_a->value);
        if (same.defined()) return a = Broadcast::make(same, b.type().lanes()), true;
    }
    return false;
}

void match_types_of(Expr &a, Expr &b, const char *operation, const Location &at) {
    require_defined(a, operation, at);
    require_defined(b, operation, at);
    try {
        match_types(a, b, at);
    } catch (const CompileError &e) {
        throw CompileError(at, str("operator ", operation, ": ", e.what()));
    }
}

std::optional<int64_t> wide_value(const Expr &e) {
    if (const auto *i = e.as<IntImm>()) return i->value;
    return std::nullopt;
}

// The operation on two constant signed integers, or undefined.
template<typename F>
Expr fold(const Expr &a, const Expr &b, F f) {
    auto x = wide_value(a), y = wide_value(b);
    if (!x || !y) return {};
    Wide exact = f(Wide(*x), Wide(*y));
    if (a.type().bits() >= 32 && (exact > a.type().max_int() || exact < a.type().min_int())) {
        return {};
    }
    return IntImm::make(a.type(), int64_t(exact));
}

// Refuses two signed constants that a user wrote and whose result does not fit. Constants that the
// compiler makes of others may wrap.
void refuse_overflow(const Expr &a, const Expr &b, const char *operation, const Location &at) {
    auto x = wide_value(a), y = wide_value(b);
    if (!x || !y || place_of_user(at).empty()) return;
    throw CompileError(at, str("operator ", operation, ": ", *x, " ", operation, " ", *y, " is no ",
                               a.type(),
                               "; cast an operand to a wider type, or to an unsigned "
                               "one if it is meant to wrap"));
}

template<typename Node, typename F>
Expr arithmetic(WrittenExpr a, Expr b, const char *operation, F f) {
    bool is_signed = a.defined() && b.defined() && !a.type().is_uint() && !b.type().is_uint();
    match_types_of(a, b, operation, a.at);
    if (a.type().is_bool()) {
        throw CompileError(a.at, str("operator ", operation,
                                     " of two booleans; cast them to an integer type first"));
    }
    Expr folded = fold(a, b, f);
    if (!folded.defined() && is_signed) refuse_overflow(a, b, operation, a.at);
    return folded.defined() ? folded : Node::make(std::move(a), std::move(b));
}

template<typename Node, typename F>
Expr compare(WrittenExpr a, Expr b, const char *operation, F f) {
    match_types_of(a, b, operation, a.at);
    auto x = wide_value(a), y = wide_value(b);
    if (x && y) return f(*x, *y) ? const_true() : const_false();
    return Node::make(std::move(a), std::move(b));
}

void require_bool(const Expr &e, const char *operation, const Location &at) {
    require_defined(e, operation, at);
    if (!e.type().is_bool()) {
        throw CompileError(at, str("operator ", operation, " needs a boolean, not ", e.type(),
                                   "; compare it with something, for example `!= 0`"));
    }
}

}  // namespace

void match_types(Expr &a, Expr &b, const Location &at) {
    if (a.type() == b.type()) return;
    match_lanes(a, b);
    if (a.type() == b.type()) return;
    if (!follows_halide(at) && constant_takes_type(a, b)) return;
    Type common = common_type(a.type().element_of(), b.type().element_of());
    if (!common.defined()) {
        throw CompileError(
            str("types ", a.type(), " and ", b.type(), " have no common type; cast one of them"));
    }
    a = cast(common, std::move(a));
    b = cast(common, std::move(b));
}

Expr operator+(WrittenExpr a, Expr b) {
    return arithmetic<Add>(std::move(a), std::move(b), "+", std::plus<>());
}
Expr operator-(WrittenExpr a, Expr b) {
    return arithmetic<Sub>(std::move(a), std::move(b), "-", std::minus<>());
}
Expr operator*(WrittenExpr a, Expr b) {
    return arithmetic<Mul>(std::move(a), std::move(b), "*", std::multiplies<>());
}
Expr operator/(WrittenExpr a, Expr b) {
    return arithmetic<Div>(std::move(a), std::move(b), "/", [](Wide x, Wide y) {
        if (y == 0) return Wide(0);
        Wide q = x / y;
        return x % y < 0 ? (y > 0 ? q - 1 : q + 1) : q;
    });
}
Expr operator%(WrittenExpr a, Expr b) {
    return arithmetic<Mod>(std::move(a), std::move(b), "%", [](Wide x, Wide y) {
        if (y == 0) return Wide(0);
        Wide r = x % y;
        return r < 0 ? r + (y > 0 ? y : -y) : r;
    });
}
Expr operator-(WrittenExpr a) {
    require_defined(a, "-", a.at);
    if (const auto *f = a.as<FloatImm>()) return FloatImm::make(f->type, -f->value);
    if (a.type().is_float()) {
        return Mul::make(a, make_const(a.type(), -1));
    }
    WrittenExpr zero(make_zero(a.type()), a.at);
    return arithmetic<Sub>(std::move(zero), std::move(a), "-", std::minus<>());
}
Expr operator==(WrittenExpr a, WrittenExpr b) {
    return compare<EQ>(std::move(a), std::move(b), "==", std::equal_to<>());
}
Expr operator!=(WrittenExpr a, WrittenExpr b) {
    return compare<NE>(std::move(a), std::move(b), "!=", std::not_equal_to<>());
}
Expr operator<(WrittenExpr a, Expr b) {
    return compare<LT>(std::move(a), std::move(b), "<", std::less<>());
}
Expr operator<=(WrittenExpr a, Expr b) {
    return compare<LE>(std::move(a), std::move(b), "<=", std::less_equal<>());
}
Expr operator>(WrittenExpr a, Expr b) {
    return compare<GT>(std::move(a), std::move(b), ">", std::greater<>());
}
Expr operator>=(WrittenExpr a, Expr b) {
    return compare<GE>(std::move(a), std::move(b), ">=", std::greater_equal<>());
}
Expr operator&&(WrittenExpr a, Expr b) {
    require_bool(a, "&&", a.at);
    require_bool(b, "&&", a.at);
    match_lanes(a, b);
    if (is_true(a) || is_false(b)) return b;
    if (is_true(b) || is_false(a)) return a;
    return And::make(std::move(a), std::move(b));
}
Expr operator||(WrittenExpr a, Expr b) {
    require_bool(a, "||", a.at);
    require_bool(b, "||", a.at);
    match_lanes(a, b);
    if (is_false(a) || is_true(b)) return b;
    if (is_false(b) || is_true(a)) return a;
    return Or::make(std::move(a), std::move(b));
}
Expr operator!(WrittenExpr a) {
    require_bool(a, "!", a.at);
    if (is_true(a)) return const_false(a.type().lanes());
    if (is_false(a)) return const_true(a.type().lanes());
    return Not::make(std::move(a));
}

namespace {

// Halide's assignments keep the type of what is assigned to.
Expr operand_of_assignment(const Expr &a, WrittenExpr b) {
    if (!follows_halide(b.at) || !a.defined() || !b.defined()) return b;
    return cast(a.type().element_of(), std::move(b));
}

}  // namespace

Expr &operator+=(Expr &a, WrittenExpr b) {
    WrittenExpr left(a, b.at);
    return a = std::move(left) + operand_of_assignment(a, std::move(b));
}
Expr &operator-=(Expr &a, WrittenExpr b) {
    WrittenExpr left(a, b.at);
    return a = std::move(left) - operand_of_assignment(a, std::move(b));
}
Expr &operator*=(Expr &a, WrittenExpr b) {
    WrittenExpr left(a, b.at);
    return a = std::move(left) * operand_of_assignment(a, std::move(b));
}
Expr &operator/=(Expr &a, WrittenExpr b) {
    WrittenExpr left(a, b.at);
    return a = std::move(left) / operand_of_assignment(a, std::move(b));
}

Expr min(Expr a, Expr b, Location at) {
    match_types_of(a, b, "min", at);
    if (auto x = wide_value(a), y = wide_value(b); x && y) return *x < *y ? Expr(a) : b;
    return Min::make(std::move(a), std::move(b));
}
Expr max(Expr a, Expr b, Location at) {
    match_types_of(a, b, "max", at);
    if (auto x = wide_value(a), y = wide_value(b); x && y) return *x > *y ? Expr(a) : b;
    return Max::make(std::move(a), std::move(b));
}

Expr clamp(Expr e, Expr lowest, Expr highest, Location at) {
    require_defined(e, "clamp", at);
    require_defined(lowest, "clamp", at);
    require_defined(highest, "clamp", at);
    Type t = e.type();
    Expr low = bound_of_clamp(std::move(lowest), t, at);
    Expr high = bound_of_clamp(std::move(highest), t, at);
    // A NaN gives `low`. In the other order ptxas would make a saturation of it, which gives 0 for
    // [0, 1].
    if (t.is_float()) return min(max(std::move(e), std::move(low), at), std::move(high), at);
    return max(min(std::move(e), std::move(high), at), std::move(low), at);
}
namespace {

// A signed integer takes the other value's type; other values have to be of one type.
void match_as_halide(Expr &a, Expr &b, const Location &at) {
    require_defined(a, "select", at);
    require_defined(b, "select", at);
    Type element_a = a.type().element_of(), element_b = b.type().element_of();
    if (element_a == element_b) return;
    // Halide converts them one after the other, too.
    if (a.as<IntImm>()) a = cast(element_b, a);
    if (b.as<IntImm>()) b = cast(a.type().element_of(), b);
    if (a.type().element_of() == b.type().element_of()) return;
    throw CompileError(at, str("select: one value is a ", a.type(), ", the other a ", b.type(),
                               "; cast one of them"));
}

}  // namespace

Expr select(Expr condition, Expr true_value, Expr false_value, Location at) {
    if (condition.defined() && follows_halide(at)) {  // `true` is the integer 1 there
        const auto constant = as_const_int(condition);
        if (constant) condition = *constant ? const_true() : const_false();
    }
    require_bool(condition, "select", at);
    if (follows_halide(at)) match_as_halide(true_value, false_value, at);
    match_types_of(true_value, false_value, "select", at);
    if (is_true(condition)) return true_value;
    if (is_false(condition)) return false_value;
    int lanes = condition.type().lanes();
    if (lanes > 1 && true_value.type().is_scalar()) {
        true_value = Broadcast::make(true_value, lanes);
        false_value = Broadcast::make(false_value, lanes);
    }
    return Select::make(std::move(condition), std::move(true_value), std::move(false_value));
}

Expr cast(Type t, Expr e, Location at) {
    require_defined(e, "cast", at);
    if (!t.defined()) throw CompileError(at, "cast: the type is undefined");
    if (t.is_scalar()) t = t.with_lanes(e.type().lanes());
    if (e.type() == t) return e;
    if (t.is_handle() != e.type().is_handle()) {
        throw CompileError(at, str("cannot cast ", e.type(), " to ", t, "; use reinterpret"));
    }
    if (t.lanes() != e.type().lanes()) {
        if (e.type().is_scalar()) return Broadcast::make(cast(t.element_of(), e), t.lanes());
        throw CompileError(at, str("cannot cast ", e.type(), " to ", t, ": it has ",
                                   e.type().lanes(), " lanes, not ", t.lanes()));
    }
    if (const auto *splat = e.as<Broadcast>(); splat && is_imm(splat->value)) {
        return Broadcast::make(cast(t.element_of(), splat->value), t.lanes());
    }
    if (const auto *i = e.as<IntImm>(); i && !t.is_bool()) return make_const(t, i->value);
    if (const auto *u = e.as<UIntImm>(); u && !t.is_bool()) {
        if (t.is_int_or_uint()) return make_const(t, int64_t(u->value));
        return rounded(t, u->value);
    }
    if (const auto *f = e.as<FloatImm>(); f && t.is_float()) {
        return FloatImm::make(t, rounded_to(t, f->value));
    }
    return Cast::make(t, std::move(e));
}

Expr make_const(Type t, int64_t value) {
    if (t.is_vector()) return Broadcast::make(make_const(t.element_of(), value), t.lanes());
    if (t.is_int()) return IntImm::make(t, value);
    if (t.is_uint()) return UIntImm::make(t, uint64_t(value));
    if (t.is_float()) return rounded(t, value);
    return Reinterpret::make(t, UIntImm::make(UInt(64), uint64_t(value)));
}
Expr make_float_const(Type t, double value) {
    if (t.is_vector()) return Broadcast::make(make_float_const(t.element_of(), value), t.lanes());
    return FloatImm::make(t, value);
}
Expr make_zero(Type t) { return make_const(t, 0); }
Expr make_one(Type t) { return make_const(t, 1); }
Expr const_true(int lanes) { return make_const(Bool(lanes), 1); }
Expr const_false(int lanes) { return make_const(Bool(lanes), 0); }
Expr broadcast(Expr e, int lanes) { return lanes == 1 ? e : Broadcast::make(std::move(e), lanes); }

std::optional<int64_t> as_const_int(const Expr &e) {
    if (const auto *i = e.as<IntImm>()) return i->value;
    if (const auto *u = e.as<UIntImm>(); u && int64_t(u->value) >= 0) return int64_t(u->value);
    if (const auto *splat = e.as<Broadcast>()) return as_const_int(splat->value);
    return std::nullopt;
}
bool is_const(const Expr &e) {
    if (const auto *splat = e.as<Broadcast>()) return is_const(splat->value);
    return is_imm(e);
}
bool is_const(const Expr &e, int64_t value) {
    if (const auto *splat = e.as<Broadcast>()) return is_const(splat->value, value);
    if (const auto *f = e.as<FloatImm>()) return f->value == double(value);
    auto v = as_const_int(e);
    return v && *v == value;
}
bool may_hold(Type t, const Expr &e) {
    Type s = t.element_of();
    if (!s.is_int_or_uint()) return true;
    if (const auto *splat = e.as<Broadcast>()) return may_hold(s, splat->value);
    if (const auto *i = e.as<IntImm>()) return s.can_represent(i->value);
    if (const auto *u = e.as<UIntImm>()) return s.can_represent(u->value);
    if (const auto *f = e.as<FloatImm>()) return s.can_represent(f->value);
    return true;
}
bool is_zero(const Expr &e) { return is_const(e, 0); }
bool is_one(const Expr &e) { return is_const(e, 1); }
bool is_true(const Expr &e) { return e.defined() && e.type().is_bool() && is_const(e, 1); }
bool is_false(const Expr &e) { return e.defined() && e.type().is_bool() && is_const(e, 0); }
bool is_no_op(const Stmt &s) {
    if (!s.defined()) return true;
    const auto *evaluate = s.as<Evaluate>();
    return evaluate && is_const(evaluate->value);
}
Expr int32_variable(Symbol name) { return Variable::make(Int(32), name); }
bool is_pure(const Expr &e) {
    bool pure = true;
    for_each_node(e, [&](const IntrinsicCall &c) { pure &= info_of(c.op).pure; });
    for_each_node(e, [&](const ExternCall &c) { pure &= c.pure; });
    return pure;
}

bool is_strict_float(const Expr &e) {
    const auto *c = e.as<IntrinsicCall>();
    return c && c->op == Intrinsic::strict_float;
}

namespace {

// Looks for products and sums, at most `budget` nodes of the expression.
class FindContraction final : public Visitor {
public:
    bool products = false, sums = false;
    int budget = 100;

private:
#define VISIT(T, found)                                                                            \
    void visit(const T &node) override {                                                           \
        (found) |= node.type.is_float();                                                           \
        look_below(node);                                                                          \
    }
    VISIT(Add, sums)
    VISIT(Sub, sums)
    VISIT(Mul, products)
#undef VISIT
    void visit(const Variable &v) override {  // which may stand for a product, if it is no argument
        products |= v.type.is_float() && !v.referent;
    }
    void visit(const Mod &node) override {  // a product that is subtracted
        products |= node.type.is_float();
        sums |= node.type.is_float();
        look_below(node);
    }
    void visit(const IntrinsicCall &c) override {
        const bool computes = c.op == Intrinsic::exp || c.op == Intrinsic::log ||
                              c.op == Intrinsic::pow || c.op == Intrinsic::lerp ||
                              c.op == Intrinsic::fast_exp || c.op == Intrinsic::fast_log;
        products |= computes;
        sums |= computes;
        if (c.op != Intrinsic::strict_float) look_below(c);
    }
    template<typename T>
    void look_below(const T &node) {
        if (--budget > 0 && !(products && sums)) Visitor::visit(node);
    }
};

}  // namespace

bool may_be_contracted(const Expr &e) {
    FindContraction find;
    find(e);
    return (find.products && find.sums) || find.budget <= 0;
}

Expr as_strict_float(Expr e) {
    if (is_strict_float(e) || !may_be_contracted(e)) return e;
    Type t = e.type();
    return call(t, Intrinsic::strict_float, {std::move(e)});
}

Expr likely(Expr e) {
    Type t = e.type();
    return IntrinsicCall::make(t, Intrinsic::likely, {std::move(e)});
}
Expr likely_if_innermost(Expr e) {
    Type t = e.type();
    return IntrinsicCall::make(t, Intrinsic::likely_if_innermost, {std::move(e)});
}
Expr call(Type t, Intrinsic op, std::vector<Expr> args) {
    return IntrinsicCall::make(t, op, std::move(args));
}
Stmt no_op() { return Evaluate::make(0); }

const Load &address_taken(const Expr &e) {
    const auto *c = e.as<IntrinsicCall>();
    const auto *load = c && c->op == Intrinsic::address_of ? c->args[0].as<Load>() : nullptr;
    if (!load) throw InternalError("the address of what is no Load");
    return *load;
}

}  // namespace tessera::ir
