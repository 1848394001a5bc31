#include "generator.h"
#include <algorithm>
#include <cmath>

namespace tessera::fuzz {

Plan Generator::draw() {
    draw_inputs();
    has_externs = random.chance(0.25);
    draw_nans();
    has_triangles = random.chance(0.15);
    int count = random.range(2, 7);
    output_dims = random.pick<int>({1, 2, 2, 2, 2, 3, 3, 4});
    draw_in_place();
    for (int i = 0; i < count; i++) plan.funcs.push_back(draw_func(i, i + 1 == count));
    choose_output();
    draw_schedule(plan, random);
    return std::move(plan);
}

void Generator::draw_inputs() {
    int count = random.range(1, 2);
    for (int i = 0; i < count; i++) {
        InputPlan input;
        input.type = random.pick(all_types);
        int dims = random.range(1, 3);
        for (int d = 0; d < dims; d++) input.size.push_back(random.range(5, 24));
        input.is_param = random.chance(0.5);
        input.is_wide = random.chance(0.3);
        if (random.chance(0.25)) {
            input.layout = random.pick<InputLayout>(
                {InputLayout::LastInnermost, InputLayout::EveryOther, InputLayout::PaddedRows});
        }
        plan.inputs.push_back(input);
    }
}

// By the seed itself, so that other plans stay what they are.
void Generator::draw_nans() {
    constexpr uint64_t one_of = 4;
    if ((plan.seed * 0x9E3779B97F4A7C15ull >> 40) % one_of != 0) return;
    for (InputPlan &input : plan.inputs) input.has_nan = input.type.is_float();
}

bool Generator::has_nan() const {
    return std::any_of(plan.inputs.begin(), plan.inputs.end(),
                       [](const InputPlan &input) { return input.has_nan; });
}

void Generator::draw_in_place() {
    is_in_place = random.chance(0.12);
    if (!is_in_place) return;
    InputPlan &input = plan.inputs[0];
    input.is_param = true;
    input.size.resize(size_t(output_dims), 9);
}

Term Generator::in_place(const Term &value) {
    Term at;
    at.op = Op::Input;
    for (int d = 0; d < output_dims; d++) at.args.push_back(coordinate(d));
    set_input_range(at, plan.inputs[0]);
    at.may_be_nan = at.type.is_float() && has_nan();
    const Term other = cast_to(at.type, value);
    if (random.chance(0.3)) return select(condition(output_dims), at, other);
    return at.type.is_bool() ? compare(Op::Or, at, other) : arithmetic(Op::Add, at, other);
}

int Generator::draw_size(int largest) {
    if (is_tiny && random.chance(0.7)) return random.pick<int>({0, 1, 1, 2, 2, 3});
    return random.range(1, largest);
}

// Returns true if something is read at a multiple of a coordinate, which far from zero is refused:
// it might overflow.
static bool scales_coordinates(const Plan &plan) {
    bool found = false;
    for (const FuncPlan &func : plan.funcs) {
        for_each_root(func, [&](const Term &root) {
            for_each_term(root, [&](const Term &read) {
                if (read.op != Op::Call && read.op != Op::Input) return;
                for (const Term &arg : read.args) {
                    for_each_term(arg, [&](const Term &t) { found |= t.op == Op::Mul; });
                }
            });
        });
    }
    return found;
}

int Generator::draw_base(size_t d) {
    if (!is_far || is_updated_at_points(plan, d)) return 0;
    for (int f : plan.outputs) {
        const FuncPlan &func = plan.funcs[size_t(f)];
        if (func.is_extern || func.boundary != Boundary::None) return 0;
    }
    if (scales_coordinates(plan)) return random.pick<int>({0, 1 << 20, -(1 << 20)});
    return random.pick<int>({0, 1 << 20, 1 << 29, -(1 << 29), (1 << 30) - 500, 500 - (1 << 30)});
}

void Generator::choose_output() {
    is_tiny = random.chance(0.15);
    is_far = random.chance(0.06) && !is_in_place;
    plan.outputs = {int(plan.funcs.size()) - 1};
    int before = int(plan.funcs.size()) - 2;
    // Elements of an output that others read would have to be in its buffer.
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

bool Generator::is_read(int f) {
    bool found = false;
    for (size_t g = size_t(f) + 1; g < plan.funcs.size(); g++) {
        for_each_root(plan.funcs[g], [&](const Term &root) {
            for_each_term(root, [&](const Term &t) { found |= t.op == Op::Call && t.index == f; });
        });
        found |= plan.funcs[g].source == f && !plan.funcs[g].source_is_input;
        found |= reads(plan.funcs[g], f);
    }
    return found;
}

FuncPlan Generator::draw_func(int i, bool is_output) {
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
    if (is_output && is_in_place) {
        f.values = {in_place(random.chance(0.5) ? f.values[0] : leaf(f.values[0].type, f.dims))};
    }
    if (random.chance(0.35)) {
        add_updates(f, i);
    } else if (is_output && random.chance(0.06)) {
        for (Term &v : f.values) v = defined_at_times(v, f.dims);
    }
    return f;
}

Term Generator::defined_at_times(const Term &v, int dims) {
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

void Generator::leave_points_alone(UpdatePlan &u, int dims) {
    for (Term &v : u.values) {
        if (u.values.size() > 1 && random.chance(0.3)) continue;
        bool within = v.args.size() == 2 && (u.associative || random.chance(0.5));
        if (!within && u.associative) continue;
        Term &part = within ? v.args[1] : v;
        part = defined_at_times(part, dims);
    }
}

FuncPlan Generator::sum_of_previous(int i) {
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

Term Generator::read_at_times(const Term &instead, int dims) {
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

FuncPlan Generator::boundary_condition(int i) {
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

int Generator::input_of_fixed_size() const {
    for (size_t i = 0; i < plan.inputs.size(); i++) {
        if (!plan.inputs[i].is_param) return int(i);
    }
    return -1;
}

FuncPlan Generator::extern_stage(int i) {
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

ExternSource Generator::extern_source(int i) {
    if (random.chance(0.25)) return {random.range(0, int(plan.inputs.size()) - 1), true};
    return {random.range(std::max(0, i - 3), i - 1), false};
}

std::vector<Term> Generator::values_of(const ExternSource &s) const {
    if (!s.is_input) return plan.funcs[size_t(s.index)].values;
    Term t;
    set_input_range(t, plan.inputs[size_t(s.index)]);
    return {t};
}

void Generator::set_extern_values(FuncPlan &f) {
    double low = 0, high = 1009, error = 0;
    for (const ExternSource &s : f.reads) {
        for (const Term &v : values_of(s)) {
            error += 2 * v.error;
            if (!v.type.is_float()) continue;
            low += v.low / 8;
            high += v.high / 8;
        }
    }
    int count = random.chance(0.25) ? 2 : 1;
    for (int k = 0; k < count; k++) {
        Type t = random.pick<Type>({Int(32), UInt(8), Int(16), UInt(32), Int(64), Float(32)});
        if (error > 0 && !t.is_float()) t = Float(random.chance(0.7) ? 32 : 64);
        Term v = number(t, 0);
        v.low = t.is_float() ? low : smallest(t);
        v.high = t.is_float() ? high : largest(t);
        double size = std::max(std::fabs(v.low), v.high);
        if (t.is_float()) v.error = error + size * epsilon_of(t);
        f.values.push_back(v);
    }
}

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

Plan draw_plan(uint64_t seed) {
    if (seed < first_tensor_seed) return Generator(seed).draw();
    Plan plan;
    plan.seed = seed;
    plan.tensor = draw_tensor_plan(seed);
    return plan;
}

}  // namespace tessera::fuzz
