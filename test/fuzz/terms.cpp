#include "terms.h"
#include <algorithm>
#include <cmath>

namespace tessera::fuzz {
namespace {

bool wraps(Type t) { return t.is_uint() || (t.is_int() && t.bits() < 32); }

double magnitude(const Term &a) { return std::max(std::fabs(a.low), std::fabs(a.high)); }

void full_range(Term &t) {
    t.low = t.type.is_int() ? double(t.type.min_int()) : 0;
    t.high = double(t.type.is_int() ? double(t.type.max_int()) : double(t.type.max_uint()));
}

// The range of a result before it is wrapped or rounded; makes it that of the type.
Term finish(Term t, double low, double high, double error = 0) {
    t.low = low;
    t.high = high;
    if (t.type.is_float()) {
        bool integers = error == 0 && magnitude(t) * epsilon_of(t.type) <= 1;
        t.error = integers ? 0 : error + magnitude(t) * epsilon_of(t.type);
    } else if (low < smallest(t.type) || high > largest(t.type)) {
        full_range(t);
    }
    return t;
}

Term make(Op op, Type type, std::vector<Term> args) {
    Term t;
    t.op = op;
    t.type = type;
    t.args = std::move(args);
    t.is_data = std::ranges::any_of(t.args, &Term::is_data);
    for (const Term &arg : t.args) t.may_be_nan |= type.is_float() && arg.may_be_nan;
    return t;
}

// Returns true if arithmetic on these has to be kept from leaving the type.
bool must_fit(Type t, bool is_data) { return t.is_float() || (!wraps(t) && !is_data); }

// A number, the last one of the range for what is none.
Term only_number(Term a, double limit) {
    const Type t = a.type;
    Term within = make(Op::Clamp, t, {std::move(a), number(t, -limit), number(t, limit)});
    within.may_be_nan = false;
    within.low = -limit;
    within.high = limit;
    return within;
}

}  // namespace

double epsilon_of(Type t) {
    if (t.is_bfloat()) return std::ldexp(1.0, -8);
    return std::ldexp(1.0, t.bits() == 16 ? -11 : t.bits() == 32 ? -24 : -53);
}

double largest(Type t) {
    if (t.is_float()) return t.bits() == 16 ? 1e4 : 1e9;
    if (wraps(t)) return t.is_int() ? double(t.max_int()) : double(t.max_uint());
    return std::ldexp(1.0, t.bits() - 2);
}

double smallest(Type t) {
    if (t.is_uint()) return 0;
    return wraps(t) ? double(t.min_int()) : -largest(t);
}

uint64_t widest_input(Type t) {
    if (t.is_uint()) return t.max_uint();
    return t.bits() == 64 ? uint64_t(1) << 62 : uint64_t(t.max_int());
}

Term number(Type t, double value) {
    Term n = make(Op::Number, t, {});
    n.number = n.low = n.high = value;
    return n;
}

Term coordinate(int d) {
    Term t = make(Op::Coordinate, Int(32), {});
    t.index = d;
    t.low = -4096;
    t.high = 4096;
    return t;
}

Term reduction_variable(int domain, int d, const Domain &box) {
    Term t = make(Op::Reduction, Int(32), {});
    t.index = domain;
    t.part = d;
    t.low = box.box[size_t(d)].first;
    t.high = t.low + box.box[size_t(d)].second - 1;
    return t;
}

Term limited(Term a, double limit) {
    if (magnitude(a) <= limit || a.type.is_bool()) return a;
    Type t = a.type;
    if (t.is_float())
        return arithmetic(
            Op::Mul, a,
            number(t, std::ldexp(1.0, -int(std::ceil(std::log2(magnitude(a) / limit))))));
    return arithmetic(Op::Mod, std::move(a), number(t, std::floor(std::min(limit, largest(t)))));
}

Term arithmetic(Op op, Term a, Term b) {
    Type t = a.type;
    if (op == Op::Mod && t.is_float()) op = Op::Add;
    if (t.is_float() && op == Op::Div) {
        // The divisor is a power of two, so that nothing is near zero.
        b = number(t, 4);
    }
    double limit = op == Op::Mul ? std::sqrt(largest(t)) / 2 : largest(t) / 4;
    const bool is_data = a.is_data || b.is_data;
    // A coordinate that data is added to is no larger than coordinates are.
    const bool bounded = t.is_float() || !wraps(t);
    auto fitting = [&](Term operand) {
        return must_fit(t, operand.is_data) ? limited(std::move(operand), limit) : operand;
    };
    if (bounded && op != Op::Div && op != Op::Mod &&
        !(b.op == Op::Number && op == Op::Mul && std::fabs(b.number) < 1)) {
        a = fitting(std::move(a));
        b = fitting(std::move(b));
    }
    double corners[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
    double error = a.error + b.error;
    double size_a = magnitude(a), size_b = magnitude(b);
    double mul_error = a.error * size_b + b.error * size_a;
    Term result = make(op, t, {a, b});
    switch (op) {
    case Op::Add: return finish(result, a.low + b.low, a.high + b.high, error);
    case Op::Sub: return finish(result, a.low - b.high, a.high - b.low, error);
    case Op::Mul: {
        bool fraction = t.is_float() && b.number != std::floor(b.number);
        return finish(result, *std::min_element(corners, corners + 4),
                      *std::max_element(corners, corners + 4), mul_error + (fraction ? 1e-30 : 0));
    }
    case Op::Div:
        if (t.is_float()) return finish(result, -size_a, size_a, a.error + 1e-30);
        return finish(result, -size_a, size_a);
    case Op::Mod: return finish(result, 0, std::max(size_b - 1, 0.0));
    default:
        if (is_data) full_range(result);
        return is_data ? result : finish(result, smallest(t), largest(t));
    }
}

Term compare(Op op, Term a, Term b) {
    Term t = make(op, Bool(), {std::move(a), std::move(b)});
    t.high = 1;
    return t;
}

Term select(Term condition, Term a, Term b) {
    double low = std::min(a.low, b.low), high = std::max(a.high, b.high);
    double error = std::max(a.error, b.error);
    Term t = make(Op::Select, a.type, {std::move(condition), std::move(a), std::move(b)});
    t.low = low;
    t.high = high;
    t.error = error;
    return t;
}

Term cast_to(Type to, Term a) {
    if (a.type == to) return a;
    Type from = a.type;
    // A value that a rounding may change does not become a whole number.
    if (a.error > 0 && !to.is_float()) return number(to, to.is_bool() ? 1 : 7);
    if (to.is_bool()) return compare(Op::Lt, number(from, 3), std::move(a));
    if (from.is_float() && !to.is_float()) a = limited(std::move(a), std::min(largest(to), 1e5));
    if (a.may_be_nan && !to.is_float())
        a = only_number(std::move(a), std::min({largest(to), largest(from), 1e5}));
    // A float that is negative has no value as an unsigned integer.
    if (from.is_float() && to.is_uint()) a = apply(Op::Abs, {std::move(a)});
    if (to.is_float()) a = limited(std::move(a), std::min(largest(to), largest(from)) / 2);
    if (to.is_int() && to.bits() >= 32 && !from.is_float() && !a.is_data) {
        a = limited(std::move(a), largest(to));
    }
    double low = a.low, high = a.high, error = a.error;
    bool truncates = from.is_float() && !to.is_float();
    Term t = make(Op::Cast, to, {std::move(a)});
    return finish(t, low, high, truncates ? 0 : error);
}

Term index_within(Term a, int low, int high) {
    if (!a.type.is_int() || a.type.bits() != 32) a = cast_to(Int(32), std::move(a));
    Term t = make(Op::Clamp, Int(32), {std::move(a), number(Int(32), low), number(Int(32), high)});
    t.low = low;
    t.high = high;
    return t;
}

Term reduce(Op op, int domain, int points, Term body) {
    if (op == Op::Sum && must_fit(body.type, body.is_data)) {
        body = limited(std::move(body), largest(body.type) / (2.0 * points));
    }
    double low = body.low, high = body.high, error = body.error;
    if (op == Op::Sum) {
        low = std::min(0.0, low * points);
        high = std::max(0.0, high * points);
        error *= points;
    }
    Term t = make(op, body.type, {std::move(body)});
    t.index = domain;
    t = finish(t, low, high, error);
    if (op == Op::Sum && t.error > 0) t.error *= points;
    return t;
}

Term apply(Op op, std::vector<Term> args) {
    Type t = args[0].type;
    Term first = args[0];
    auto with_type = [&](Type type) { return make(op, type, args); };
    switch (op) {
    case Op::Min:
    case Op::Max: {
        Term r = with_type(t);
        bool is_max = op == Op::Max;
        r.low = is_max ? std::max(args[0].low, args[1].low) : std::min(args[0].low, args[1].low);
        r.high =
            is_max ? std::max(args[0].high, args[1].high) : std::min(args[0].high, args[1].high);
        r.error = std::max(args[0].error, args[1].error);
        return r;
    }
    case Op::Abs: {
        Type result = t.is_int() ? UInt(t.bits()) : t;
        Term r = with_type(result);
        r.high = magnitude(first);
        r.error = first.error;
        return r;
    }
    case Op::Sqrt:
    case Op::Sin:
    case Op::Exp: {
        // The argument is bounded, and away from where the functions are steep.
        Term inner = first;
        if (op == Op::Sqrt) {
            inner =
                arithmetic(Op::Add, apply(Op::Abs, {limited(first, largest(t) / 8)}), number(t, 1));
        } else {
            inner = limited(first, op == Op::Sin ? 64 : 4);
        }
        double steep = op == Op::Exp ? 64 : 1, error = inner.error * steep;
        double high = op == Op::Exp ? 64 : op == Op::Sin ? 1 : std::sqrt(inner.high) + 1;
        Term r = make(op, t, {std::move(inner)});
        return finish(r, op == Op::Sin ? -1 : 0, high, error + high * 16 * epsilon_of(t));
    }
    case Op::Floor:
    case Op::Likely:
    case Op::StrictFloat: {
        Term r = with_type(t);
        r.low = first.low - (op == Op::Floor);
        r.high = first.high;
        r.error = first.error;
        return r;
    }
    case Op::Popcount:
    case Op::CountLeadingZeros: return finish(with_type(t), 0, t.bits());
    case Op::Absd: {
        Term r = with_type(t.is_int() ? UInt(t.bits()) : t);
        return finish(r, 0, magnitude(args[0]) + magnitude(args[1]), args[0].error + args[1].error);
    }
    // For two numbers that are not negative, each step is one.
    case Op::SharedDifferences: {
        return finish(with_type(t), 0, std::max(magnitude(args[0]), magnitude(args[1])) + 1);
    }
    case Op::WideningMul:
    case Op::WideningAdd: {
        bool is_sum = op == Op::WideningAdd;
        double limit = magnitude(args[0]) * magnitude(args[1]);
        double high = is_sum ? magnitude(args[0]) + magnitude(args[1]) : limit;
        return finish(with_type(t.widen()), t.is_int() ? -high : 0, high);
    }
    case Op::Lerp: {
        Term r = with_type(t);
        r.low = std::min(args[0].low, args[1].low);
        r.high = std::max(args[0].high, args[1].high);
        return r;
    }
    default: {  // integers within the type; a clamp of a float is as inexact as what it clamps
        Term r = with_type(t);
        r.error = first.error;
        full_range(r);
        if (!wraps(t)) {
            // The limit is as far as the operands reach, times a power of two for shifts.
            double high = 2 * (magnitude(args[0]) + (args.size() > 1 ? magnitude(args[1]) : 0)) + 1;
            if (high <= largest(t)) {
                r.low = -high;
                r.high = high;
            }
        }
        return r;
    }
    }
}

}  // namespace tessera::fuzz
