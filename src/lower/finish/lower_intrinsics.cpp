#include "lower/finish/lower_intrinsics.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/random_hash.h"
#include "lower/gpu/kernel_loops.h"
#include <initializer_list>

namespace tessera::lower {
namespace {

using namespace ir;

// Values and weight are floats, or one of them is: computed with floats, and rounded to integers.
Expr lerp_of_floats(Type t, const Expr &zero, const Expr &one, const Expr &weight) {
    Type given = t.is_float() ? t : Float(64, t.lanes());
    Type f = given.bits() < 32 ? Float(32, t.lanes()) : given;
    Expr w = cast(f, weight);
    if (!weight.type().is_float()) w = w / cast(f, weight.type().max());
    Expr mixed = cast(f, zero) * (make_one(f) - w) + cast(f, one) * w;
    if (t.is_float()) return cast(t, mixed);
    Expr rounded = call(f, Intrinsic::floor, {mixed + make_float_const(f, 0.5)});
    return call(t, Intrinsic::saturating_cast, {rounded});
}

// All of it fits an integer of at most 64 bits: (zero * (most - w) + one * w) / most, rounded.
Expr lerp_in(Type wide, Type t, const Expr &zero, const Expr &one, const Expr &weight) {
    Expr w = cast(wide, weight);
    Expr most = cast(wide, weight.type().max());
    Expr half =
        broadcast(make_const(wide.element_of(), int64_t(weight.type().max_uint() / 2)), t.lanes());
    Expr sum = cast(wide, zero) * (most - w) + cast(wide, one) * w;
    return cast(t, (sum + half) / most);
}

// Interpolates wide integers. With the smaller value first, their distance d is not negative; of d
// = q * most + r, both products fit.
Expr lerp_by_parts(Type t, const Expr &zero, const Expr &one, const Expr &weight) {
    Type u = UInt(64, t.lanes());
    Expr most = cast(u, weight.type().max()), w = cast(u, weight);
    Expr swapped = one < zero;
    Expr share = select(swapped, most - w, w);
    Expr low = min(zero, one), high = max(zero, one);
    Expr distance = cast(u, high) - cast(u, low);
    Expr half = broadcast(make_const(UInt(64), int64_t(weight.type().max_uint() / 2)), t.lanes());
    Expr moved = (distance / most) * share + ((distance % most) * share + half) / most;
    return cast(t, cast(u, low) + moved);
}

int64_t operand(const IntrinsicCall &query, size_t i) {
    if (i < query.args.size()) {
        if (auto value = as_const_int(query.args[i])) return *value;
    }
    throw CompileError("target_query without the number it is about");
}

Expr answer(const IntrinsicCall &query, const Target &target) {
    const auto *question = query.args.empty() ? nullptr : query.args[0].as<StringImm>();
    std::string asked = question ? question->value : "";
    auto reply = [&](int64_t value) { return make_const(query.type, value); };
    if (asked == "arch_is") return reply(int64_t(target.arch) == operand(query, 1));
    if (asked == "os_is") return reply(int64_t(target.os) == operand(query, 1));
    if (asked == "bits") return reply(target.bits);
    if (asked == "has_feature") {
        int64_t feature = operand(query, 1);
        bool known = feature >= 0 && feature < Target::FeatureEnd;
        return reply(known && target.has_feature(Target::Feature(feature)));
    }
    if (asked == "natural_vector_size") {
        Type t(TypeCode(operand(query, 1)), int(operand(query, 2)));
        return reply(target.natural_vector_size(t));
    }
    throw CompileError(str("the target cannot be asked for \"", asked, "\""));
}

// The value, if the promise is kept.
Expr checked(const IntrinsicCall &promise) {
    const Expr &value = promise.args[0], &low = promise.args[1], &high = promise.args[2];
    Expr kept = low <= value && value <= high;
    return call(promise.type, Intrinsic::require,
                {kept, value, Expr(""), Expr("is not between"), Expr(" "), low, Expr(" and "), high,
                 Expr(", as unsafe_promise_clamped promises; it is "), value});
}

class LowerIntrinsics final : public Mutator {
public:
    explicit LowerIntrinsics(const Target &target, bool in_kernel = false)
        : target(target), in_kernel(in_kernel) {}

private:
    // Expressions that are outside, too, are another's.
    Stmt visit(const For &loop) override {
        if (in_kernel || !is_over_blocks(loop)) return Mutator::visit(loop);
        return LowerIntrinsics(target, true)(Stmt(&loop));
    }
    Expr visit(const IntrinsicCall &node) override {
        Expr e = Mutator::visit(node);
        const auto *c = e.as<IntrinsicCall>();
        if (!c) return e;
        if (c->op == Intrinsic::random) return expand_random(*c);
        if (c->op == Intrinsic::target_query) return answer(*c, target);
        if (c->op == Intrinsic::gather || c->op == Intrinsic::scatter) {
            throw CompileError("scatter and gather stand in the arguments and values of an update, "
                               "and nowhere else");
        }
        bool unsafe = c->op == Intrinsic::unsafe_promise_clamped;
        if (unsafe && target.has_feature(Target::CheckUnsafePromises)) return checked(*c);
        if (c->op == Intrinsic::fast_exp && !in_kernel) return lower_fast_exp(c->args[0]);
        if (c->op == Intrinsic::fast_log && !in_kernel) return lower_fast_log(c->args[0]);
        if (c->op != Intrinsic::lerp) return e;
        return lower_lerp(c->type, c->args[0], c->args[1], c->args[2]);
    }
    const Target &target;
    const bool in_kernel;
};

// Horner's scheme, lowest coefficient first.
Expr polynomial(const Expr &x, std::initializer_list<float> coefficients) {
    Expr result;
    for (auto c = std::rbegin(coefficients); c != std::rend(coefficients); ++c) {
        const Expr one = make_float_const(x.type(), double(*c));
        result = result.defined() ? result * x + one : one;
    }
    return result;
}

}  // namespace

Expr lower_fast_exp(const Expr &x) {
    const Type f = x.type(), i = Int(32, f.lanes());
    const auto real = [&](float value) { return make_float_const(f, double(value)); };
    const Expr t = max(min(x * real(1.44269504f), real(127.999f)), real(-126.0f));
    const Expr n = call(f, Intrinsic::round, {t});
    const Expr mantissa = polynomial(t - n, {1.00000008f, 0.693147207f, 0.240221074f, 0.0555032721f,
                                             0.0096760371f, 0.00134004322f});
    // 2^128 is no float: half of it twice is.
    const Expr exponent = cast(i, n) + make_const(i, 126);
    const Expr power =
        Reinterpret::make(f, call(i, Intrinsic::shift_left, {exponent, make_const(i, 23)}));
    return mantissa * power * real(2.0f);
}

Expr lower_fast_log(const Expr &x) {
    const Type f = x.type(), i = Int(32, f.lanes());
    const Expr bits = Reinterpret::make(i, x), shift = make_const(i, 23);
    // The exponent for which the mantissa lies in [sqrt(1/2), sqrt(2)).
    const Expr exponent =
        call(i, Intrinsic::shift_right, {bits - make_const(i, 0x3f3504f3), shift});
    const Expr power = call(i, Intrinsic::shift_left, {exponent, shift});
    const Expr m = Reinterpret::make(f, bits - power) - make_one(f);
    const Expr p =
        m * polynomial(m, {0.999999974f, -0.49999987f, 0.333341833f, -0.250021535f, 0.199569775f,
                           -0.16560696f, 0.149490955f, -0.143773306f, 0.0874394535f});
    return cast(f, exponent) * make_float_const(f, double(0.693147181f)) + p;
}

Expr lower_lerp(Type t, const Expr &zero, const Expr &one, const Expr &weight) {
    Type w = weight.type();
    if (t.is_float() || w.is_float() || w.bits() > 32) {
        return lerp_of_floats(t, zero, one, weight);
    }
    int bits = 8;
    while (bits < t.bits() + w.bits()) bits *= 2;
    if (bits > 64) return lerp_by_parts(t, zero, one, weight);
    return lerp_in(t.with_bits(bits), t, zero, one, weight);
}

Stmt lower_intrinsics(const Stmt &s, const Context &context) {
    return LowerIntrinsics(context.target)(s);
}
Expr lower_intrinsics(const Expr &e, const Context &context) {
    return LowerIntrinsics(context.target)(e);
}

}  // namespace tessera::lower
