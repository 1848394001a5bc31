#include "generator.h"
#include <algorithm>
#include <cmath>

namespace tessera::fuzz {

void Generator::add_updates(FuncPlan &f, int i) {
    draw_updates(f, i);
    for (UpdatePlan &u : f.updates) {
        if (random.chance(0.12)) leave_points_alone(u, f.dims);
    }
    for (UpdatePlan &u : f.updates) tidy(u);
}

void Generator::tidy(UpdatePlan &u) {
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

void Generator::draw_updates(FuncPlan &f, int i) {
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

Term Generator::self(const FuncPlan &f, int i, size_t k, std::vector<Term> args) {
    Term t;
    t.op = Op::Call;
    t.index = i;
    t.part = int(k);
    t.type = f.values[k].type;
    t.low = f.values[k].low;
    t.high = f.values[k].high;
    t.error = f.values[k].error;
    t.is_data = f.values[k].is_data;
    t.may_be_nan = t.type.is_float() && has_nan();
    t.args = std::move(args);
    return t;
}

std::vector<Term> Generator::pure_args(const FuncPlan &f) {
    std::vector<Term> args;
    for (int d = 0; d < f.dims; d++) args.push_back(coordinate(d));
    return args;
}

void Generator::widen_range(Term &of, const Term &with) {
    of.low = std::min(of.low, with.low);
    of.high = std::max(of.high, with.high);
    of.error = std::max(of.error, with.error);
}

bool Generator::keep_within(FuncPlan &f, double limit) {
    if (std::max(std::fabs(f.values[0].low), std::fabs(f.values[0].high)) <= limit) return true;
    if (!f.updates.empty()) return false;
    f.values[0] = limited(f.values[0], limit);
    return true;
}

void Generator::accumulate(FuncPlan &f, int i) {
    Type t = f.values[0].type;
    Term e = cast_to(t, random.chance(0.5) ? source(f.dims) : leaf(t, f.dims));
    accumulate(f, i, random.range(1, 2), e);
}

void Generator::accumulate(FuncPlan &f, int i, int domain_dims, const Term &what) {
    Type t = f.values[0].type;
    UpdatePlan u;
    u.domain = new_domain(domain_dims, 6);
    u.args = pure_args(f);
    u.associative = true;
    int n = points(u.domain);
    const bool in_part = f.dims > 0 && random.chance(0.3);
    Term e = over_domain(in_part ? select(part(f.dims), what, number(t, 0)) : what, u.domain, 0.7);
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
        if (t.is_float() && !integers) sum.error += n * size * epsilon_of(t);
        if (!t.is_float() && (sum.low < smallest(t) || sum.high > largest(t))) {
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

void Generator::scatter_update(FuncPlan &f, int i) {
    Type t = f.values[0].type;
    if (t.is_bool() || t.is_float()) return;
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

void Generator::scan(FuncPlan &f, int i) {
    Type t = f.values[0].type;
    if (t.is_float() || t.is_bool()) return;
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
    Term sum = arithmetic(Op::Add, limited(previous, largest(t) / 4), limited(me, largest(t) / 4));
    u.values = {arithmetic(Op::Mod, sum, number(t, t.bits() <= 8 ? 101 : 1000))};
    widen_range(f.values[0], u.values[0]);
    f.updates.push_back(u);
}

void Generator::arg_max(FuncPlan &f, int i) {
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

void Generator::pointwise_update(FuncPlan &f, int i) {
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

}  // namespace tessera::fuzz
