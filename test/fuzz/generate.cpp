#include "terms.h"
#include <algorithm>
#include <cmath>

namespace tessera::fuzz {
namespace {

const std::vector<Type> all_types = {Int(8),    Int(16),   Int(32),   Int(64),   UInt(8),
                                     UInt(16),  UInt(32),  UInt(64),  Bool(),    Float(32),
                                     Float(32), Float(64), Float(16), BFloat(16)};

class Generator {
public:
    explicit Generator(uint64_t seed) : random(seed) { plan.seed = seed; }

    Plan draw() {
        draw_inputs();
        has_externs = random.chance(0.25);
        has_triangles = random.chance(0.15);
        int count = random.range(2, 7);
        output_dims = random.pick<int>({1, 2, 2, 2, 2, 3, 3, 4});
        for (int i = 0; i < count; i++) plan.funcs.push_back(draw_func(i, i + 1 == count));
        choose_output();
        draw_schedule(plan, random);
        return std::move(plan);
    }

private:
    void draw_inputs() {
        int count = random.range(1, 2);
        for (int i = 0; i < count; i++) {
            InputPlan input;
            input.type = random.pick(all_types);
            int dims = random.range(1, 3);
            for (int d = 0; d < dims; d++) input.size.push_back(random.range(5, 24));
            input.is_param = random.chance(0.5);
            input.is_wide = random.chance(0.3);
            plan.inputs.push_back(input);
        }
    }

    // Mostly of a size at which loops have something to do, and tails.
    int draw_size(int largest) {
        if (is_tiny && random.chance(0.7)) return random.pick<int>({0, 1, 1, 2, 2, 3});
        return random.range(1, largest);
    }

    // Far from zero: the first coordinate of dimension d.
    int draw_base(size_t d) {
        if (!is_far || is_updated_at_points(plan, d)) return 0;
        for (int f : plan.outputs) {
            const FuncPlan &func = plan.funcs[size_t(f)];
            if (func.is_extern || func.boundary != Boundary::None) return 0;
        }
        return random.pick<int>(
            {0, 1 << 20, 1 << 29, -(1 << 29), (1 << 30) - 500, 500 - (1 << 30)});
    }

    void choose_output() {
        is_tiny = random.chance(0.15);
        is_far = random.chance(0.06);
        plan.outputs = {int(plan.funcs.size()) - 1};
        int before = int(plan.funcs.size()) - 2;
        // What others read of an output would have to be in its buffer.
        if (before >= 0 && random.chance(0.4) && !is_read(before) &&
            plan.funcs[size_t(before)].dims == output_dims) {
            plan.outputs.push_back(before);
        }
        static const int largest[] = {0, 150, 36, 14, 8};
        for (int d = 0; d < output_dims; d++) {
            plan.min.push_back(random.chance(0.6) ? 0 : random.range(-12, 9));
            plan.size.push_back(draw_size(largest[output_dims]));
            plan.base.push_back(draw_base(size_t(d)));
            // Updates at certain points need these points.
            if (!is_updated_at_points(plan, size_t(d))) continue;
            plan.min.back() = -4;
            plan.size.back() = std::max(plan.size.back(), 20);
        }
    }

    bool is_read(int f) {
        bool found = false;
        for (size_t g = size_t(f) + 1; g < plan.funcs.size(); g++) {
            for_each_root(plan.funcs[g], [&](const Term &root) {
                for_each_term(root,
                              [&](const Term &t) { found |= t.op == Op::Call && t.index == f; });
            });
            found |= plan.funcs[g].source == f && !plan.funcs[g].source_is_input;
            found |= reads(plan.funcs[g], f);
        }
        return found;
    }

    // ---- Values ----

    Term leaf(Type t, int dims) {
        switch (random.range(0, 4)) {
        case 0:
            if (random.chance(0.08)) return end_of(t);
            return number(t, t.is_bool() ? 1 : random.range(t.is_uint() ? 0 : -9, 9));
        case 1: return cast_to(t, coordinate(random.range(0, dims - 1)));
        case 2:
            if (random.chance(0.3)) return cast_to(t, parameter());
            [[fallthrough]];
        default: return cast_to(t, source(dims));
        }
    }

    // As good as the largest or smallest value.
    Term end_of(Type t) {
        if (t.is_any_float() || t.is_bool()) return number(t, 1);
        if (t.bits() == 64)
            return number(t, std::ldexp(t.is_int() && random.chance(0.5) ? -1 : 1, 62));
        if (t.is_uint()) return number(t, double(t.max_uint()) - random.range(0, 1));
        return number(t, random.chance(0.5) ? double(t.min_int()) : double(t.max_int()));
    }

    Term parameter() {
        Term t;
        t.op = Op::Parameter;
        t.low = -20;
        t.high = 20;
        return t;
    }

    // An element of an input, or a value of a function before, somewhere near the point.
    Term source(int dims) {
        if (plan.funcs.empty() || random.chance(0.3)) return input(dims);
        int back = std::min<int>(int(plan.funcs.size()), random.range(1, 3));
        return call(int(plan.funcs.size()) - back, dims, random.chance(0.15));
    }

    Term input(int dims) {
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
        return t;
    }

    static void set_input_range(Term &t, const InputPlan &in) {
        t.type = in.type;
        bool small = t.type.bits() >= 32 && !in.is_wide;
        if (t.type.is_any_float()) {
            t.high = 100;
        } else if (small) {
            t.high = 1000;
        } else {
            t.high = double(widest_input(t.type));
        }
        if (t.type.is_any_float() || t.type.is_int()) t.low = -t.high;
        if (t.type.is_int() && t.type.bits() < 32) t.low = double(t.type.min_int());
    }

    Term shifted(const Term &at) {
        int by = random.range(-3, 3);
        return by == 0 ? at : arithmetic(Op::Add, at, number(Int(32), by));
    }

    Term call(int f, int dims, bool gather) {
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
        bool odd = random.chance(0.25);
        for (int d = 0; d < callee.dims; d++) {
            Term at = d < dims && !(odd && random.chance(0.3)) ? coordinate(d)
                      : random.chance(0.5) ? coordinate(random.range(0, dims - 1))
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

    static Term operation(Op op, Type t, std::vector<Term> args) {
        Term r;
        r.op = op;
        r.type = t;
        r.args = std::move(args);
        r.low = -5000;
        r.high = 5000;
        return r;
    }

    // A factor or divisor between 0.2 and 1.5, or of either sign: a number, or made of the
    // parameter or of a quotient of two.
    Term scale() {
        Type t = Float(32);
        Term p = operation(Op::Cast, t, {parameter()});
        switch (random.range(0, 3)) {
        case 0:
            return operation(
                Op::Div, t,
                {number(t, random.range(8, 24)),
                 operation(Op::Cast, t, {arithmetic(Op::Add, parameter(), number(Int(32), 37))})});
        case 1:
            return operation(Op::Add, t,
                             {operation(Op::Mul, t, {p, number(t, 0.03)}), number(t, 0.9)});
        default: return number(t, random.range(2, 15) * (random.chance(0.3) ? -0.1 : 0.1));
        }
    }

    // What resizing makes of a coordinate: scaled and moved as a float, and cut off to an integer.
    // Its operations are each rounded on their own, so nothing in it may differ.
    Term scaled_coordinate(const Term &at) {
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
            r = operation(Op::Sqrt, t,
                          {operation(Op::Add, t,
                                     {operation(Op::Mul, t, {x, x}), operation(Op::Abs, t, {s})})});
        }
        if (random.chance(0.6)) r = operation(Op::Floor, t, {r});
        return operation(Op::Cast, Int(32), {r});
    }

    // A float that may be far beyond the integers, within bounds once it is one.
    Term overflowing_coordinate(const Term &at) {
        Type t = Float(32);
        Term far =
            operation(Op::Mul, t,
                      {operation(Op::Cast, t, {at}), number(t, random.chance(0.5) ? 3e8 : -1e20)});
        return index_within(operation(Op::Cast, Int(32), {far}), random.range(-4, 0),
                            random.range(1, 20));
    }

    // Coordinates that are mirrored, cut off, or scaled.
    Term bent(const Term &at, int dims) {
        Op op = random.chance(0.5) ? Op::Min : Op::Max;
        if (random.chance(0.05)) return overflowing_coordinate(at);
        if (random.chance(0.3)) return scaled_coordinate(at);
        switch (random.range(0, 6)) {
        case 0: return apply(op, {at, shifted(coordinate(random.range(0, dims - 1)))});
        case 1:
            return apply(op, {at, arithmetic(Op::Add, parameter(), shifted(number(Int(32), 0)))});
        case 2: return apply(op, {at, mirrored(at)});
        case 3:
            return apply(
                op, {at, random.chance(0.15) ? end_of(op) : number(Int(32), random.range(-4, 16))});
        default: return mirrored(at);
        }
    }

    Term mirrored(Term at) {
        return arithmetic(Op::Sub, number(Int(32), random.range(-3, 20)), std::move(at));
    }

    // What leaves coordinates as they are.
    static Term end_of(Op op) {
        return number(Int(32), double(op == Op::Min ? Int(32).max_int() : Int(32).min_int()));
    }

    // Comparisons and conversions to integers are of values that no rounding can change.
    Term exact(Term t) {
        if (t.error == 0) return t;
        return number(t.type, random.range(0, 9));
    }

    // What cuts a part out of the coordinates: a half, a triangle, every other row.
    Term part(int dims) {
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

    Term condition(int dims) {
        if (dims > 0 && random.chance(0.3)) return part(dims);
        Type t = random.pick(all_types);
        static const std::vector<Op> ops = {Op::Lt, Op::Le, Op::Eq};
        Term c = t.is_bool()
                     ? cast_to(Bool(), exact(source(dims)))
                     : compare(random.pick(ops), exact(leaf(t, dims)), exact(leaf(t, dims)));
        if (random.chance(0.2)) {
            Term other = compare(Op::Lt, coordinate(0), number(Int(32), random.range(0, 20)));
            Term both = compare(random.chance(0.5) ? Op::And : Op::Or, c, other);
            return both;
        }
        return c;
    }

    Term value(Type t, int dims, int depth) {
        if (depth == 0) return leaf(t, dims);
        if (t.is_bool()) return condition(dims);
        switch (random.range(0, 11)) {
        case 10: return pyramid(t, dims);
        case 11: return rare_function(t, dims, depth);
        case 0:
            return select(condition(dims), value(t, dims, depth - 1), value(t, dims, depth - 1));
        case 1:
            return apply(random.chance(0.5) ? Op::Min : Op::Max,
                         {value(t, dims, depth - 1), value(t, dims, depth - 1)});
        case 2: return stencil(t, dims);
        case 3:
            return t.is_any_float() ? float_function(t, dims, depth)
                                    : integer_function(t, dims, depth);
        case 4: return random.chance(0.5) ? inline_reduction(t, dims) : stencil(t, dims);
        case 5: {
            Term inner = value(random.pick(all_types), dims, depth - 1);
            return cast_to(t, t.is_any_float() ? inner : exact(inner));
        }
        default: {
            static const std::vector<Op> for_floats = {Op::Add, Op::Sub, Op::Mul, Op::Div};
            static const std::vector<Op> for_integers = {Op::Add, Op::Sub,    Op::Mul,    Op::Div,
                                                         Op::Mod, Op::BitAnd, Op::BitXor, Op::Add};
            Op op = random.pick(t.is_any_float() ? for_floats : for_integers);
            return arithmetic(op, value(t, dims, depth - 1), value(t, dims, depth - 1));
        }
        }
    }

    Term float_function(Type t, int dims, int depth) {
        static const std::vector<Op> ops = {Op::Sqrt, Op::Sin, Op::Exp, Op::Abs, Op::StrictFloat};
        return apply(random.pick(ops), {value(t, dims, depth - 1)});
    }

    Term integer_function(Type t, int dims, int depth) {
        auto operand = [&] { return limited(value(t, dims, depth - 1), largest(t) / 8); };
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
            return apply(
                Op::MulShiftRight,
                {operand(), operand(), number(UInt(t.bits()), random.range(0, t.bits() - 1))});
        }
        static const std::vector<Op> ops = {Op::HalvingAdd, Op::RoundingHalvingAdd,
                                            Op::SaturatingAdd, Op::SaturatingSub, Op::HalvingSub};
        return apply(random.pick(ops), {operand(), operand()});
    }

    Term rare_function(Type t, int dims, int depth) {
        Term a = value(t, dims, depth - 1);
        switch (random.range(0, 4)) {
        case 0: return apply(Op::Likely, {a});
        case 1: return apply(Op::Clamp, {a, number(t, t.is_uint() ? 3 : -5), number(t, 60)});
        case 2:
            if (t.is_any_float()) return t.bits() >= 32 ? apply(Op::Floor, {exact(a)}) : a;
            return arithmetic(Op::BitOr, a, value(t, dims, depth - 1));
        case 3: return saturated(t, value(random.pick(all_types), dims, depth - 1));
        default: return cast_to(t, random_bits());
        }
    }

    Term saturated(Type t, Term a) {
        a = exact(std::move(a));
        if (a.type.is_any_float()) a = limited(std::move(a), 1e5);
        if (t.is_any_float() || a.type.is_bool()) return cast_to(t, std::move(a));
        Term r;
        r.op = Op::SaturatingCast;
        r.type = t;
        r.low = std::max(smallest(t), std::min(a.low, largest(t)));
        r.high = std::min(largest(t), std::max(a.high, smallest(t)));
        r.args = {std::move(a)};
        return r;
    }

    // Of the function's point.
    Term random_bits() {
        Term t;
        t.op = Op::Random;
        t.type = UInt(32);
        t.index = random.range(0, 3);
        t.high = largest(UInt(32));
        return t;
    }

    // A function at half or twice the resolution, in one dimension or in all.
    Term pyramid(Type t, int dims) {
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

    Term lerp(Type t, int dims, int depth) {
        Term weight = cast_to(UInt(t.bits()), exact(leaf(UInt(t.bits()), dims)));
        return apply(Op::Lerp, {value(t, dims, depth - 1), leaf(t, dims), weight});
    }

    // Several neighbours along one dimension, of which all are mirrored or cut off.
    Term bent_stencil(Type t, int dims, int taps) {
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

    // Several neighbours of one function, weighted.
    Term stencil(Type t, int dims) {
        int taps = random.range(2, 4);
        if (plan.funcs.empty()) return leaf(t, dims);
        if (random.chance(0.2)) return bent_stencil(t, dims, taps);
        int f = int(plan.funcs.size()) - 1 -
                random.range(0, std::min<int>(2, int(plan.funcs.size()) - 1));
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

    // Of how the two loops relate; for some values of the outer one, the inner one does nothing.
    Term triangle(int id, const Domain &domain) {
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

    int new_domain(int dims, int most) {
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

    int points(int domain) {
        int n = 1;
        for (auto [min, extent] : plan.domains[size_t(domain)].box) n *= extent;
        return n;
    }

    // Replaces some coordinates in the arguments of calls by, or adds to them, domain variables.
    Term over_domain(Term t, int domain, double chance) {
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

    Term inline_reduction(Type t, int dims) {
        if (t.is_bool()) return condition(dims);
        int domain = new_domain(random.range(1, 2), 4);
        Term body = over_domain(cast_to(t, source(dims)), domain, 0.7);
        Op op = random.pick<Op>({Op::Sum, Op::Sum, Op::Maximum, Op::Minimum});
        // Without a point the extreme would be the type's own.
        if (op != Op::Sum) plan.domains[size_t(domain)].where.clear();
        return reduce(op, domain, points(domain), body);
    }

    // ---- Functions ----

    FuncPlan draw_func(int i, bool is_output) {
        FuncPlan f;
        f.dims = is_output || random.chance(0.75) ? output_dims : random.range(1, 3);
        if (!is_output && random.chance(0.12)) return boundary_condition(i);
        if (!is_output && i > 0 && random.chance(has_externs ? 0.35 : 0.05)) return extern_stage(i);
        if (i > 0 && has_triangles && random.chance(0.4)) return sum_of_previous(i);
        int values = random.chance(has_externs ? 0.5 : 0.2) ? random.range(2, 3) : 1;
        for (int k = 0; k < values; k++) {
            Type t = random.pick(all_types);
            if (random.chance(0.5) && t.bits() < 16) t = random.pick(all_types);
            f.values.push_back(value(t, f.dims, random.range(1, 3)));
            if (i > 0 && random.chance(has_externs ? 0.3 : 0.05)) {
                f.values.back() = read_at_times(f.values.back(), f.dims);
            }
        }
        if (random.chance(0.35)) {
            add_updates(f, i);
        } else if (is_output && random.chance(0.06)) {
            for (Term &v : f.values) v = defined_at_times(v, f.dims);
        }
        return f;
    }

    // The value, or what is there already, which is 0 in an output.
    Term defined_at_times(const Term &v, int dims) {
        Term undefined;
        undefined.op = Op::Undef;
        undefined.type = v.type;
        Term choice = v;
        choice.op = Op::Select;
        choice.low = std::min(v.low, 0.0);
        choice.high = std::max(v.high, 0.0);
        choice.args = {condition(dims), v, undefined};
        if (random.chance(0.5)) std::swap(choice.args[1], choice.args[2]);
        return choice;
    }

    // Some points are left alone by it. An operation stays what it is, of the element and another.
    void leave_points_alone(UpdatePlan &u, int dims) {
        for (Term &v : u.values) {
            if (u.values.size() > 1 && random.chance(0.3)) continue;
            bool within = v.args.size() == 2 && (u.associative || random.chance(0.5));
            if (!within && u.associative) continue;
            Term &part = within ? v.args[1] : v;
            part = defined_at_times(part, dims);
        }
    }

    // Only its update reads the function before, so that this may be computed at loops of a domain.
    FuncPlan sum_of_previous(int i) {
        FuncPlan f;
        f.dims = output_dims;
        Type t = random.pick(all_types);
        f.values = {number(t, 1)};
        Term e = cast_to(t, call(i - 1, f.dims, false));
        if (random.chance(0.6)) {
            Term next = cast_to(t, call(i - 1, f.dims, false));
            e = arithmetic(t.is_bool() ? Op::BitXor : Op::Add, e, next);
        }
        accumulate(f, i, 2, e);
        for (UpdatePlan &u : f.updates) tidy(u);
        return f;
    }

    // The value, or that of a function which others need in any case, or not at all.
    Term read_at_times(const Term &instead, int dims) {
        int f = int(plan.funcs.size()) - random.range(1, std::min<int>(3, int(plan.funcs.size())));
        Term read = cast_to(instead.type, call(f, dims, false));
        Term when;
        switch (random.range(0, 3)) {
        case 0: when = condition(dims); break;
        case 1: when = compare(Op::Lt, coordinate(0), number(Int(32), random.range(-2, 12))); break;
        default: when = compare(Op::Lt, number(Int(32), random.range(-2, 6)), parameter());
        }
        return random.chance(0.7) ? select(when, read, instead) : select(when, instead, read);
    }

    FuncPlan boundary_condition(int i) {
        FuncPlan f;
        f.boundary = Boundary(random.range(1, 5));
        f.source_is_input = i == 0 || random.chance(0.7);
        if (!f.source_is_input) {
            f.source = random.range(0, i - 1);
            const FuncPlan &of = plan.funcs[size_t(f.source)];
            if (of.values.size() == 1) {
                f.dims = of.dims;
                f.values = {number(of.values[0].type, 0)};
                f.values[0].low = std::min(0.0, of.values[0].low);
                f.values[0].high = std::max(0.0, of.values[0].high);
                f.values[0].error = of.values[0].error;
                return f;
            }
            f.source_is_input = true;
        }
        f.source = input_of_fixed_size();
        if (f.source < 0) {  // what is left is a function of its own
            f.boundary = Boundary::None;
            f.values = {value(random.pick(all_types), f.dims = output_dims, 2)};
            return f;
        }
        const InputPlan &in = plan.inputs[size_t(f.source)];
        f.dims = int(in.size.size());
        Term range;
        set_input_range(range, in);
        f.values = {number(in.type, 0)};
        f.values[0].low = std::min(range.low, 0.0);
        f.values[0].high = range.high;
        return f;
    }

    // What a parameter has to hold follows from what is read of it, so it has no boundary yet.
    int input_of_fixed_size() const {
        for (size_t i = 0; i < plan.inputs.size(); i++) {
            if (!plan.inputs[i].is_param) return int(i);
        }
        return -1;
    }

    FuncPlan extern_stage(int i) {
        FuncPlan f;
        f.is_extern = true;
        size_t buffers = 0;
        int count = random.pick<int>({1, 1, 2, 2, 3});
        for (int k = 0; k < count; k++) {
            ExternSource s = extern_source(i);
            buffers += s.is_input ? 1 : plan.funcs[size_t(s.index)].values.size();
            if (buffers > 4) break;
            bool is_fixed = s.is_input && !plan.inputs[size_t(s.index)].is_param;
            if (is_fixed) f.read_limit = random.range(1, 4);
            f.reads.push_back(s);
        }
        const ExternSource &first = f.reads[0];
        f.dims = output_dims;
        if (!first.is_input && random.chance(0.85)) f.dims = plan.funcs[size_t(first.index)].dims;
        if (random.chance(0.15)) f.read_limit = random.range(1, 4);
        set_extern_values(f);
        return f;
    }

    ExternSource extern_source(int i) {
        if (random.chance(0.25)) return {random.range(0, int(plan.inputs.size()) - 1), true};
        return {random.range(std::max(0, i - 3), i - 1), false};
    }

    // Values of what is read.
    std::vector<Term> values_of(const ExternSource &s) const {
        if (!s.is_input) return plan.funcs[size_t(s.index)].values;
        Term t;
        set_input_range(t, plan.inputs[size_t(s.index)]);
        return {t};
    }

    // Floats if any of what is read is inexact.
    void set_extern_values(FuncPlan &f) {
        double low = 0, high = 1009, error = 0;
        for (const ExternSource &s : f.reads) {
            for (const Term &v : values_of(s)) {
                error += 2 * v.error;
                if (!v.type.is_any_float()) continue;
                low += v.low / 8;
                high += v.high / 8;
            }
        }
        int count = random.chance(0.25) ? 2 : 1;
        for (int k = 0; k < count; k++) {
            Type t = random.pick<Type>({Int(32), UInt(8), Int(16), UInt(32), Int(64), Float(32)});
            if (error > 0 && !t.is_any_float()) t = Float(random.chance(0.7) ? 32 : 64);
            Term v = number(t, 0);
            v.low = t.is_any_float() ? low : smallest(t);
            v.high = t.is_any_float() ? high : largest(t);
            double size = std::max(std::fabs(v.low), v.high);
            if (t.is_any_float()) v.error = error + size * epsilon_of(t);
            f.values.push_back(v);
        }
    }

    void add_updates(FuncPlan &f, int i) {
        draw_updates(f, i);
        for (UpdatePlan &u : f.updates) {
            if (random.chance(0.12)) leave_points_alone(u, f.dims);
        }
        for (UpdatePlan &u : f.updates) tidy(u);
    }

    // Only variables that the left side has may be on the right; a domain that nothing uses is
    // none.
    void tidy(UpdatePlan &u) {
        bool uses_domain = false;
        auto visit = [&](Term &root) {
            for_each_term(root, [&](Term &t) {
                uses_domain |= t.op == Op::Reduction && t.index == u.domain;
                if (t.op != Op::Coordinate) return;
                const Term &at = u.args[size_t(t.index)];
                if (at.op != Op::Coordinate) t = number(Int(32), random.range(0, 5));
            });
        };
        for (Term &arg : u.args) {
            if (arg.op != Op::Coordinate) visit(arg);
        }
        for (Term &v : u.values) visit(v);
        if (!uses_domain) u.domain = -1;
    }

    void draw_updates(FuncPlan &f, int i) {
        int count = random.range(1, 2);
        for (int u = 0; u < count; u++) {
            int kind = random.range(0, 4);
            if (f.values.size() > 1 && kind <= 2) {
                arg_max(f, i);
            } else if (f.values.size() > 1) {
                pointwise_update(f, i);
            } else if (kind <= 1) {
                accumulate(f, i);
            } else if (kind == 2) {
                scatter_update(f, i);
            } else if (kind == 3) {
                scan(f, i);
            } else {
                pointwise_update(f, i);
            }
        }
    }

    Term self(const FuncPlan &f, int i, size_t k, std::vector<Term> args) {
        Term t;
        t.op = Op::Call;
        t.index = i;
        t.part = int(k);
        t.type = f.values[k].type;
        t.low = f.values[k].low;
        t.high = f.values[k].high;
        t.error = f.values[k].error;
        t.args = std::move(args);
        return t;
    }

    static std::vector<Term> pure_args(const FuncPlan &f) {
        std::vector<Term> args;
        for (int d = 0; d < f.dims; d++) args.push_back(coordinate(d));
        return args;
    }

    static void widen_range(Term &of, const Term &with) {
        of.low = std::min(of.low, with.low);
        of.high = std::max(of.high, with.high);
        of.error = std::max(of.error, with.error);
    }

    // Makes the values of the only stage that small; false if updates have made them larger.
    static bool keep_within(FuncPlan &f, double limit) {
        if (std::max(std::fabs(f.values[0].low), std::fabs(f.values[0].high)) <= limit) return true;
        if (!f.updates.empty()) return false;
        f.values[0] = limited(f.values[0], limit);
        return true;
    }

    void accumulate(FuncPlan &f, int i) {
        Type t = f.values[0].type;
        Term e = cast_to(t, random.chance(0.5) ? source(f.dims) : leaf(t, f.dims));
        accumulate(f, i, random.range(1, 2), e);
    }

    // f(x, y) op= something over a domain: in any order.
    void accumulate(FuncPlan &f, int i, int domain_dims, const Term &what) {
        Type t = f.values[0].type;
        UpdatePlan u;
        u.domain = new_domain(domain_dims, 6);
        u.args = pure_args(f);
        u.associative = true;
        int n = points(u.domain);
        const bool in_part = f.dims > 0 && random.chance(0.3);
        Term e =
            over_domain(in_part ? select(part(f.dims), what, number(t, 0)) : what, u.domain, 0.7);
        Term me = self(f, i, 0, u.args);
        if (t.is_bool()) {
            u.values = {compare(random.chance(0.5) ? Op::Or : Op::And, me, e)};
        } else if (random.chance(0.7)) {
            if (!keep_within(f, largest(t) / 4)) return;
            me = self(f, i, 0, u.args);
            e = limited(e, largest(t) / (4.0 * n));
            Term sum = arithmetic(Op::Add, me, e);
            // Left as it is: me + e, not of limited operands.
            sum.args = {me, e};
            sum.low = me.low + std::min(0.0, e.low * n);
            sum.high = me.high + std::max(0.0, e.high * n);
            double size = std::max(std::fabs(sum.low), std::fabs(sum.high));
            sum.error = me.error + n * e.error;
            bool integers = sum.error == 0 && size * epsilon_of(t) <= 1;
            if (t.is_any_float() && !integers) sum.error += n * size * epsilon_of(t);
            if (!t.is_any_float() && (sum.low < smallest(t) || sum.high > largest(t))) {
                sum.low = t.is_int() ? double(t.min_int()) : 0;
                sum.high = t.is_int() ? double(t.max_int()) : double(t.max_uint());
            }
            u.values = {sum};
        } else {
            u.values = {apply(random.chance(0.5) ? Op::Min : Op::Max, {me, e})};
        }
        widen_range(f.values[0], u.values[0]);
        f.updates.push_back(u);
    }

    // f(clamp(data)) += 1, as a histogram.
    void scatter_update(FuncPlan &f, int i) {
        Type t = f.values[0].type;
        if (t.is_bool() || t.is_any_float()) return;
        UpdatePlan u;
        u.domain = new_domain(random.range(1, 2), 12);
        u.args = pure_args(f);
        Term data = over_domain(exact(source(f.dims)), u.domain, 1.0);
        for_each_term(data, [&](Term &term) {
            if (term.op == Op::Coordinate)
                term = reduction_variable(u.domain, 0, plan.domains[size_t(u.domain)]);
        });
        u.args[size_t(random.range(0, f.dims - 1))] = index_within(data, 0, random.range(1, 15));
        u.associative = true;
        if (!keep_within(f, largest(t) / 4)) return;
        Term me = self(f, i, 0, u.args);
        Term sum = arithmetic(Op::Add, me, number(t, 1));
        sum.args = {me, number(t, 1)};
        sum.high = std::max(sum.high, std::min(me.high + points(u.domain), largest(t)));
        u.values = {sum};
        widen_range(f.values[0], sum);
        f.updates.push_back(u);
    }

    // f(r) = something of f(r - 1): in this order only.
    void scan(FuncPlan &f, int i) {
        Type t = f.values[0].type;
        if (t.is_any_float() || t.is_bool()) return;
        UpdatePlan u;
        u.domain = new_domain(1, 10);
        u.args = pure_args(f);
        size_t along = size_t(random.range(0, f.dims - 1));
        Term r = reduction_variable(u.domain, 0, plan.domains[size_t(u.domain)]);
        u.args[along] = r;
        std::vector<Term> before = u.args;
        before[along] = arithmetic(random.chance(0.5) ? Op::Sub : Op::Add, r, number(Int(32), 1));
        if (!keep_within(f, t.bits() <= 8 ? 100 : 1000)) return;
        widen_range(f.values[0], number(t, t.is_uint() || t.bits() <= 8 ? 100 : 999));
        Term previous = self(f, i, 0, before), me = self(f, i, 0, u.args);
        Term sum =
            arithmetic(Op::Add, limited(previous, largest(t) / 4), limited(me, largest(t) / 4));
        u.values = {arithmetic(Op::Mod, sum, number(t, t.bits() <= 8 ? 101 : 1000))};
        widen_range(f.values[0], u.values[0]);
        f.updates.push_back(u);
    }

    // The largest value over a domain and where it is; the point that comes first.
    void arg_max(FuncPlan &f, int i) {
        Type t = f.values[0].type;
        if (f.values[0].error > 0 || t.is_bool()) return pointwise_update(f, i);
        UpdatePlan u;
        u.domain = new_domain(random.range(1, 2), 6);
        u.args = pure_args(f);
        const Domain &domain = plan.domains[size_t(u.domain)];
        Term e = exact(over_domain(cast_to(t, exact(source(f.dims))), u.domain, 0.8));
        Term me = self(f, i, 0, u.args);
        Term better = compare(Op::Lt, me, e);
        u.values = {select(better, e, me)};
        for (size_t k = 1; k < f.values.size(); k++) {
            int d = int(k - 1) % int(domain.box.size());
            Term at = cast_to(f.values[k].type, reduction_variable(u.domain, d, domain));
            u.values.push_back(select(better, at, self(f, i, k, u.args)));
        }
        for (size_t k = 0; k < u.values.size(); k++) widen_range(f.values[k], u.values[k]);
        f.updates.push_back(u);
    }

    // At every point, or along one line.
    void pointwise_update(FuncPlan &f, int i) {
        UpdatePlan u;
        u.args = pure_args(f);
        if (random.chance(0.3)) {
            size_t d = size_t(random.range(0, f.dims - 1));
            u.args[d] = number(Int(32), random.range(0, 5));
        }
        std::vector<Term> values;
        for (size_t k = 0; k < f.values.size(); k++) {
            Type t = f.values[k].type;
            Term me = self(f, i, k, u.args);
            Term other = cast_to(t, leaf(t, f.dims));
            Term v = t.is_bool()          ? compare(Op::And, me, other)
                     : random.chance(0.5) ? arithmetic(Op::Add, me, other)
                                          : apply(Op::Max, {me, other});
            if (random.chance(0.3)) v = select(condition(f.dims), me, other);
            values.push_back(v);
        }
        for (size_t k = 0; k < values.size(); k++) widen_range(f.values[k], values[k]);
        u.values = values;
        f.updates.push_back(u);
    }

    Random random;
    Plan plan;
    int output_dims = 2, halvings = 0;
    bool has_externs = false, has_triangles = false, is_tiny = false, is_far = false;
};

}  // namespace

bool is_updated_at_points(const Plan &plan, size_t dimension) {
    for (int f : plan.outputs) {
        for (const UpdatePlan &u : plan.funcs[size_t(f)].updates) {
            if (u.args[dimension].op != Op::Coordinate) return true;
        }
    }
    return false;
}

bool reads(const FuncPlan &extern_stage, int func) {
    return std::any_of(extern_stage.reads.begin(), extern_stage.reads.end(),
                       [&](const ExternSource &s) { return !s.is_input && s.index == func; });
}

std::vector<int> minima(const Plan &plan) {
    std::vector<int> all = plan.min;
    for (size_t d = 0; d < all.size(); d++) all[d] += plan.base[d];
    return all;
}

Plan draw_plan(uint64_t seed) { return Generator(seed).draw(); }

}  // namespace tessera::fuzz
