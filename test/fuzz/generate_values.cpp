#include "generator.h"
#include <algorithm>
#include <cmath>

namespace tessera::fuzz {

Term Generator::leaf(Type t, int dims) {
    switch (random.range(0, 4)) {
    case 0:
        if (random.chance(0.15)) return end_of(t);
        return number(t, t.is_bool() ? 1 : random.range(t.is_uint() ? 0 : -9, 9));
    case 1: return cast_to(t, coordinate(random.range(0, dims - 1)));
    case 2:
        if (random.chance(0.3)) return cast_to(t, parameter());
        [[fallthrough]];
    default: return cast_to(t, source(dims));
    }
}

Term Generator::end_of(Type t) {
    if (t.is_float() || t.is_bool()) return number(t, 1);
    if (t.bits() == 64) return number(t, std::ldexp(t.is_int() && random.chance(0.5) ? -1 : 1, 62));
    if (t.is_uint()) return number(t, double(t.max_uint()) - random.range(0, 1));
    return number(t, random.chance(0.5) ? double(t.min_int()) : double(t.max_int()));
}

Term Generator::parameter() {
    Term t;
    t.op = Op::Parameter;
    t.low = -20;
    t.high = 20;
    return t;
}

Term Generator::source(int dims) {
    if (plan.funcs.empty() || random.chance(0.3)) return input(dims);
    int back = std::min<int>(int(plan.funcs.size()), random.range(1, 3));
    return call(int(plan.funcs.size()) - back, dims, random.chance(0.15));
}

Term Generator::input(int dims) {
    Term t;
    t.op = Op::Input;
    t.index = random.range(0, int(plan.inputs.size()) - 1);
    const InputPlan &in = plan.inputs[size_t(t.index)];
    for (size_t d = 0; d < in.size.size(); d++) {
        Term at = shifted(coordinate(random.chance(0.8) ? std::min<int>(int(d), dims - 1)
                                                        : random.range(0, dims - 1)));
        // A parameter's size follows from what is read of it; a buffer's is what it is.
        if (!in.is_param || random.chance(0.3)) at = index_within(at, 0, in.size[d] - 1);
        t.args.push_back(at);
    }
    set_input_range(t, in);
    t.may_be_nan = t.type.is_float() && has_nan();
    return t;
}

void Generator::set_input_range(Term &t, const InputPlan &in) {
    t.type = in.type;
    t.is_data = true;
    bool small = t.type.bits() >= 32 && !in.is_wide;
    if (t.type.is_float()) {
        t.high = 100;
    } else if (small) {
        t.high = 1000;
    } else {
        t.high = double(widest_input(t.type));
    }
    if (t.type.is_float() || t.type.is_int()) t.low = -t.high;
    if (t.type.is_int() && t.type.bits() < 32) t.low = double(t.type.min_int());
}

Term Generator::shifted(const Term &at) {
    int by = random.range(-3, 3);
    return by == 0 ? at : arithmetic(Op::Add, at, number(Int(32), by));
}

Term Generator::call(int f, int dims, bool gather) {
    const FuncPlan &callee = plan.funcs[size_t(f)];
    Term t;
    t.op = Op::Call;
    t.index = f;
    t.part = random.range(0, int(callee.values.size()) - 1);
    const Term &value = callee.values[size_t(t.part)];
    t.type = value.type;
    t.low = value.low;
    t.high = value.high;
    t.error = value.error;
    t.is_data = value.is_data;
    t.may_be_nan = t.type.is_float() && has_nan();
    bool odd = random.chance(0.25);
    for (int d = 0; d < callee.dims; d++) {
        Term at = d < dims && !(odd && random.chance(0.3)) ? coordinate(d)
                  : random.chance(0.5)                     ? coordinate(random.range(0, dims - 1))
                                                           : number(Int(32), random.range(0, 5));
        if (gather && d == 0) {
            at = index_within(cast_to(Int(32), exact(source(dims))), 0, random.range(1, 20));
        } else if (odd && random.chance(0.5)) {
            at = random.chance(0.5) ? shifted(arithmetic(Op::Mul, at, number(Int(32), 2)))
                                    : arithmetic(Op::Div, shifted(at), number(Int(32), 2));
        } else if (odd && random.chance(0.5)) {
            at = bent(shifted(at), dims);
        } else {
            at = shifted(at);
        }
        t.args.push_back(at);
    }
    return t;
}

Term Generator::operation(Op op, Type t, std::vector<Term> args) {
    Term r;
    r.op = op;
    r.type = t;
    r.args = std::move(args);
    r.low = -5000;
    r.high = 5000;
    for (const Term &arg : r.args) r.may_be_nan |= t.is_float() && arg.may_be_nan;
    return r;
}

Term Generator::scale() {
    Type t = Float(32);
    Term p = operation(Op::Cast, t, {parameter()});
    switch (random.range(0, 3)) {
    case 0:
        return operation(
            Op::Div, t,
            {number(t, random.range(8, 24)),
             operation(Op::Cast, t, {arithmetic(Op::Add, parameter(), number(Int(32), 37))})});
    case 1:
        return operation(Op::Add, t, {operation(Op::Mul, t, {p, number(t, 0.03)}), number(t, 0.9)});
    default: return number(t, random.range(2, 15) * (random.chance(0.3) ? -0.1 : 0.1));
    }
}

Term Generator::scaled_coordinate(const Term &at) {
    Type t = Float(32);
    Term x = operation(Op::Cast, t, {at}), s = scale(), half = number(t, 0.5), r;
    switch (random.range(0, 4)) {
    case 0:
        r = operation(Op::Sub, t,
                      {operation(Op::Mul, t, {operation(Op::Add, t, {x, half}), s}), half});
        break;
    case 1:
        r = operation(Op::Add, t,
                      {operation(Op::Mul, t, {x, s}), operation(Op::Mul, t, {s, half})});
        break;
    case 2:
        r = operation(Op::Add, t,
                      {operation(Op::Div, t, {x, s}), number(t, random.range(-9, 9) / 7.0)});
        break;
    case 3:
        r = operation(random.chance(0.5) ? Op::Min : Op::Max, t,
                      {operation(Op::Mul, t, {x, s}),
                       operation(Op::Sub, t, {s, operation(Op::Mul, t, {x, number(t, 0.7)})})});
        break;
    default:
        r = operation(
            Op::Sqrt, t,
            {operation(Op::Add, t, {operation(Op::Mul, t, {x, x}), operation(Op::Abs, t, {s})})});
    }
    if (random.chance(0.6)) r = operation(Op::Floor, t, {r});
    return operation(Op::Cast, Int(32), {r});
}

Term Generator::overflowing_coordinate(const Term &at) {
    Type t = Float(32);
    Term far = operation(
        Op::Mul, t, {operation(Op::Cast, t, {at}), number(t, random.chance(0.5) ? 3e8 : -1e20)});
    return index_within(operation(Op::Cast, Int(32), {far}), random.range(-4, 0),
                        random.range(1, 20));
}

Term Generator::bent(const Term &at, int dims) {
    Op op = random.chance(0.5) ? Op::Min : Op::Max;
    if (random.chance(0.05)) return overflowing_coordinate(at);
    if (random.chance(0.3)) return scaled_coordinate(at);
    switch (random.range(0, 6)) {
    case 0: return apply(op, {at, shifted(coordinate(random.range(0, dims - 1)))});
    case 1: return apply(op, {at, arithmetic(Op::Add, parameter(), shifted(number(Int(32), 0)))});
    case 2: return apply(op, {at, mirrored(at)});
    case 3:
        return apply(
            op, {at, random.chance(0.15) ? end_of(op) : number(Int(32), random.range(-4, 16))});
    default: return mirrored(at);
    }
}

Term Generator::mirrored(Term at) {
    return arithmetic(Op::Sub, number(Int(32), random.range(-3, 20)), std::move(at));
}

Term Generator::end_of(Op op) {
    return number(Int(32), double(op == Op::Min ? Int(32).max_int() : Int(32).min_int()));
}

Term Generator::exact(Term t) {
    if (t.error == 0) return t;
    return number(t.type, random.range(0, 9));
}

Term Generator::part(int dims) {
    const Term at = coordinate(random.range(0, dims - 1));
    const Term other = coordinate(random.range(0, dims - 1));
    const Term bound = number(Int(32), random.range(-2, 20));
    switch (random.range(0, 5)) {
    case 0: return compare(Op::Lt, at, bound);
    case 1: return compare(Op::Le, bound, at);
    case 2: return compare(Op::Le, at, arithmetic(Op::Add, other, bound));
    case 3: return compare(Op::Lt, arithmetic(Op::Mul, at, number(Int(32), 2)), bound);
    case 4: return compare(Op::Eq, at, bound);
    default: {
        const Term one = part(dims), more = part(dims);
        return compare(random.chance(0.7) ? Op::And : Op::Or, one, more);
    }
    }
}

Term Generator::condition(int dims) {
    if (dims > 0 && random.chance(0.3)) return part(dims);
    Type t = random.pick(all_types);
    static const std::vector<Op> ops = {Op::Lt, Op::Le, Op::Eq};
    Term c = t.is_bool() ? cast_to(Bool(), exact(source(dims)))
                         : compare(random.pick(ops), exact(leaf(t, dims)), exact(leaf(t, dims)));
    if (random.chance(0.2)) {
        Term other = compare(Op::Lt, coordinate(0), number(Int(32), random.range(0, 20)));
        Term both = compare(random.chance(0.5) ? Op::And : Op::Or, c, other);
        return both;
    }
    return c;
}

Term Generator::value(Type t, int dims, int depth) {
    if (depth == 0) return leaf(t, dims);
    if (t.is_bool()) return condition(dims);
    switch (random.range(0, 11)) {
    case 10: return pyramid(t, dims);
    case 11: return rare_function(t, dims, depth);
    case 0: return select(condition(dims), value(t, dims, depth - 1), value(t, dims, depth - 1));
    case 1:
        return apply(random.chance(0.5) ? Op::Min : Op::Max,
                     {value(t, dims, depth - 1), value(t, dims, depth - 1)});
    case 2: return stencil(t, dims);
    case 3: return t.is_float() ? float_function(t, dims, depth) : integer_function(t, dims, depth);
    case 4: return random.chance(0.5) ? inline_reduction(t, dims) : stencil(t, dims);
    case 5: {
        Term inner = value(random.pick(all_types), dims, depth - 1);
        return cast_to(t, t.is_float() ? inner : exact(inner));
    }
    default: {
        static const std::vector<Op> for_floats = {Op::Add, Op::Sub, Op::Mul, Op::Div};
        static const std::vector<Op> for_integers = {Op::Add, Op::Sub,    Op::Mul,    Op::Div,
                                                     Op::Mod, Op::BitAnd, Op::BitXor, Op::Add};
        Op op = random.pick(t.is_float() ? for_floats : for_integers);
        return arithmetic(op, value(t, dims, depth - 1), value(t, dims, depth - 1));
    }
    }
}

Term Generator::float_function(Type t, int dims, int depth) {
    static const std::vector<Op> ops = {Op::Sqrt, Op::Sin, Op::Exp, Op::Abs, Op::StrictFloat};
    return apply(random.pick(ops), {value(t, dims, depth - 1)});
}

Term Generator::integer_function(Type t, int dims, int depth) {
    auto operand = [&] {
        Term a = value(t, dims, depth - 1);
        return a.is_data && !t.is_float() ? a : limited(std::move(a), largest(t) / 8);
    };
    if (t.is_int() && random.chance(0.3)) {
        Term a = operand(), b = operand();
        Term r = random.chance(0.5) ? apply(Op::Abs, {a}) : apply(Op::Absd, {a, b});
        return cast_to(t, r);
    }
    if (random.chance(0.1)) {
        auto small = [&] { return apply(Op::Clamp, {operand(), number(t, 0), number(t, 60)}); };
        Term a = exact(small()), b = exact(small());
        return apply(Op::SharedDifferences, {a, b});
    }
    if (random.chance(0.2)) {
        Op op = random.chance(0.5) ? Op::Popcount : Op::CountLeadingZeros;
        return apply(op, {operand()});
    }
    if (random.chance(0.25)) {
        Term count = number(t, random.range(0, std::min(t.bits() - 1, 2)));
        return arithmetic(random.chance(0.5) ? Op::Shl : Op::Shr, operand(), count);
    }
    if (t.bits() <= 16 && random.chance(0.3)) {
        if (random.chance(0.4)) return lerp(t, dims, depth);
        Op op = random.chance(0.5) ? Op::WideningMul : Op::WideningAdd;
        return cast_to(t, apply(op, {operand(), operand()}));
    }
    if (t.bits() <= 16 && random.chance(0.2)) {
        return apply(Op::MulShiftRight,
                     {operand(), operand(), number(UInt(t.bits()), random.range(0, t.bits() - 1))});
    }
    static const std::vector<Op> ops = {Op::HalvingAdd, Op::RoundingHalvingAdd, Op::SaturatingAdd,
                                        Op::SaturatingSub, Op::HalvingSub};
    return apply(random.pick(ops), {operand(), operand()});
}

Term Generator::rare_function(Type t, int dims, int depth) {
    Term a = value(t, dims, depth - 1);
    switch (random.range(0, 4)) {
    case 0: return apply(Op::Likely, {a});
    case 1: return apply(Op::Clamp, {a, number(t, t.is_uint() ? 3 : -5), number(t, 60)});
    case 2:
        if (t.is_float()) return t.bits() >= 32 ? apply(Op::Floor, {exact(a)}) : a;
        return arithmetic(Op::BitOr, a, value(t, dims, depth - 1));
    case 3: return saturated(t, value(random.pick(all_types), dims, depth - 1));
    default: return cast_to(t, random_bits());
    }
}

Term Generator::saturated(Type t, Term a) {
    a = exact(std::move(a));
    if (a.type.is_float()) a = limited(std::move(a), 1e5);
    if (t.is_float() || a.type.is_bool()) return cast_to(t, std::move(a));
    Term r;
    r.op = Op::SaturatingCast;
    r.type = t;
    r.low = std::max(smallest(t), std::min(a.low, largest(t)));
    r.high = std::min(largest(t), std::max(a.high, smallest(t)));
    r.is_data = a.is_data;
    if (r.is_data) {
        r.low = t.is_int() ? double(t.min_int()) : 0;
        r.high = t.is_int() ? double(t.max_int()) : double(t.max_uint());
    }
    r.args = {std::move(a)};
    return r;
}

Term Generator::random_bits() {
    Term t;
    t.op = Op::Random;
    t.type = UInt(32);
    t.index = random.range(0, 3);
    t.high = largest(UInt(32));
    return t;
}

Term Generator::pyramid(Type t, int dims) {
    if (plan.funcs.empty()) return leaf(t, dims);
    int f = int(plan.funcs.size()) - random.range(1, std::min<int>(2, int(plan.funcs.size())));
    bool down = random.chance(0.5) && halvings < 2;  // regions double with each
    halvings += down;
    int along = random.chance(0.3) ? -1 : random.range(0, dims - 1);
    Term sum;
    for (int tap = 0; tap < 2; tap++) {
        Term next = call(f, dims, false);
        for (int d = 0; d < int(next.args.size()); d++) {
            Term at = coordinate(std::min(d, dims - 1));
            Term by = number(Int(32), random.range(down ? -1 : 0, 1));
            if (along >= 0 && d != along) {
                next.args[size_t(d)] = at;
            } else if (down) {
                Term twice = arithmetic(Op::Mul, at, number(Int(32), 2));
                next.args[size_t(d)] = arithmetic(Op::Add, twice, by);
            } else {
                Term moved = arithmetic(Op::Add, at, by);
                next.args[size_t(d)] = arithmetic(Op::Div, moved, number(Int(32), 2));
            }
        }
        next = cast_to(t, next);
        if (tap == 0) {
            sum = next;
        } else {
            sum = arithmetic(t.is_bool() ? Op::BitXor : Op::Add, sum, next);
        }
    }
    return sum;
}

Term Generator::lerp(Type t, int dims, int depth) {
    Term weight = cast_to(UInt(t.bits()), exact(leaf(UInt(t.bits()), dims)));
    return apply(Op::Lerp, {value(t, dims, depth - 1), leaf(t, dims), weight});
}

Term Generator::bent_stencil(Type t, int dims, int taps) {
    int f = int(plan.funcs.size()) - random.range(1, std::min<int>(2, int(plan.funcs.size())));
    const FuncPlan &callee = plan.funcs[size_t(f)];
    int along = random.range(0, std::min(callee.dims, dims) - 1);
    int first = random.range(-3, 1);
    Term middle = bent(coordinate(along), dims), sum;
    for (int tap = 0; tap < taps; tap++) {
        Term next = call(f, dims, false);
        for (int d = 0; d < callee.dims; d++) {
            Term by = number(Int(32), d == along ? first + tap : 0);
            Term at = d == along ? middle : coordinate(std::min(d, dims - 1));
            next.args[size_t(d)] = arithmetic(Op::Add, at, by);
        }
        next = cast_to(t, next);
        sum = tap == 0 ? next : arithmetic(t.is_bool() ? Op::BitXor : Op::Add, sum, next);
    }
    return sum;
}

Term Generator::stencil(Type t, int dims) {
    int taps = random.range(2, 4);
    if (plan.funcs.empty()) return leaf(t, dims);
    if (random.chance(0.2)) return bent_stencil(t, dims, taps);
    int f =
        int(plan.funcs.size()) - 1 - random.range(0, std::min<int>(2, int(plan.funcs.size()) - 1));
    Term sum = cast_to(t, call(f, dims, false));
    for (int i = 1; i < taps; i++) {
        Term next = cast_to(t, call(f, dims, false));
        if (!t.is_bool() && random.chance(0.4)) {
            next = arithmetic(Op::Mul, number(t, random.range(1, 4)), next);
        }
        sum = arithmetic(t.is_bool() ? Op::BitXor : Op::Add, sum, next);
    }
    return sum;
}

Term Generator::triangle(int id, const Domain &domain) {
    Term inner = reduction_variable(id, 0, domain), outer = reduction_variable(id, 1, domain);
    auto constant = [&](int low, int high) { return number(Int(32), random.range(low, high)); };
    switch (random.range(0, 5)) {
    case 0: return compare(Op::Lt, inner, outer);
    case 1: return compare(Op::Lt, outer, inner);
    case 2:
        return compare(Op::Lt, arithmetic(Op::Mul, inner, constant(2, 3)),
                       arithmetic(Op::Sub, outer, constant(0, 3)));
    case 3: return compare(Op::Lt, arithmetic(Op::Add, inner, outer), constant(-1, 8));
    case 4:
        return compare(Op::Le, arithmetic(Op::Sub, constant(1, 9), inner),
                       arithmetic(Op::Div, outer, constant(1, 3)));
    default: return compare(Op::Eq, inner, arithmetic(Op::Add, outer, constant(-4, 4)));
    }
}

int Generator::new_domain(int dims, int most) {
    Domain domain;
    for (int d = 0; d < dims; d++) {
        domain.box.emplace_back(random.chance(0.7) ? 0 : random.range(-3, 4),
                                random.range(1, most));
    }
    int id = int(plan.domains.size());
    if (dims > 1 && random.chance(has_triangles ? 0.8 : 0.25)) {
        domain.where.push_back(triangle(id, domain));
    } else if (random.chance(0.25)) {
        Term bound = number(Int(32), random.range(-2, 5));
        Term at = reduction_variable(id, random.range(0, dims - 1), domain);
        Term other =
            random.chance(0.5) && dims > 1 ? reduction_variable(id, dims - 1, domain) : bound;
        domain.where.push_back(compare(Op::Le, other, arithmetic(Op::Add, at, bound)));
    }
    plan.domains.push_back(std::move(domain));
    return id;
}

int Generator::points(int domain) {
    int n = 1;
    for (auto [min, extent] : plan.domains[size_t(domain)].box) n *= extent;
    return n;
}

Term Generator::over_domain(Term t, int domain, double chance) {
    const Domain &d = plan.domains[size_t(domain)];
    int next = 0;
    for_each_term(t, [&](Term &term) {
        if (term.op != Op::Call && term.op != Op::Input) return;
        for (Term &arg : term.args) {
            if (arg.op != Op::Clamp && random.chance(chance)) {
                Term r = reduction_variable(domain, next++ % int(d.box.size()), d);
                arg = random.chance(0.5) ? r : arithmetic(Op::Add, arg, r);
            }
        }
    });
    return t;
}

Term Generator::inline_reduction(Type t, int dims) {
    if (t.is_bool()) return condition(dims);
    int domain = new_domain(random.range(1, 2), 4);
    Term body = over_domain(cast_to(t, source(dims)), domain, 0.7);
    Op op = random.pick<Op>({Op::Sum, Op::Sum, Op::Maximum, Op::Minimum});
    // Without a point the extreme would be the type's own.
    if (op != Op::Sum) plan.domains[size_t(domain)].where.clear();
    return reduce(op, domain, points(domain), body);
}

}  // namespace tessera::fuzz
