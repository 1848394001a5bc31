#include "autoscheduler/index_program.h"
#include "ir/operators.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

namespace tessera::autoscheduler {

using namespace ir;

namespace {

// Beyond all coordinates.
constexpr double far = double(int64_t(1) << 40);

double floor_div(double a, double b) { return b == 0 ? 0 : std::floor(a / b); }

}  // namespace

void Span::unite(const Span &other) {
    if (other.is_empty()) return;
    if (is_empty()) {
        *this = other;
        return;
    }
    min = std::min(min, other.min);
    max = std::max(max, other.max);
}

void Span::intersect(const Span &other) {
    min = std::max(min, other.min);
    max = std::min(max, other.max);
}

int Variables::find(Symbol name) const {
    auto found = std::ranges::find(names, name);
    return found == names.end() ? -1 : int(found - names.begin());
}

IndexProgram::Values IndexProgram::values_of(Type t) {
    if (!t.is_int_or_uint() || t.bits() >= 32) return {-far, far};
    if (t.is_uint()) return {0, std::ldexp(1.0, t.bits()) - 1};
    return {-std::ldexp(1.0, t.bits() - 1), std::ldexp(1.0, t.bits() - 1) - 1};
}

// Writes the instructions of an expression; returns how its value grows with each variable.
class IndexProgram::Builder {
public:
    Builder(IndexProgram &program, const Variables &variables, const Estimates &estimates,
            const ValuesOf &values_of_call)
        : program(program), variables(variables), estimates(estimates),
          values_of_call(values_of_call) {}

    using Growths = std::vector<Growth>;  // per variable
    Growths build(const Expr &e) {
        // A graph of shared nodes may be huge as a list.
        constexpr size_t longest = 256;
        if (program.code.size() >= longest) return data(e.type());
        if (auto number = as_const_int(e)) return constant({double(*number), double(*number)});
        if (const auto *f = e.as<FloatImm>()) return constant({f->value, f->value});
        switch (e.kind()) {
        case NodeKind::Variable: return variable(*e.as<Variable>());
        case NodeKind::BufferProperty: return number_of(e);
        case NodeKind::Cast: return cast(*e.as<Cast>());
        case NodeKind::Add: return binary(*e.as<Add>(), Op::Add);
        case NodeKind::Sub: return binary(*e.as<Sub>(), Op::Sub);
        case NodeKind::Mul: return binary(*e.as<Mul>(), Op::Mul);
        case NodeKind::Div: return binary(*e.as<Div>(), e.type().is_float() ? Op::Divide : Op::Div);
        case NodeKind::Mod: return binary(*e.as<Mod>(), Op::Mod);
        case NodeKind::Min: return binary(*e.as<Min>(), Op::Min);
        case NodeKind::Max: return binary(*e.as<Max>(), Op::Max);
        case NodeKind::Select:
            return either(e.as<Select>()->true_value, e.as<Select>()->false_value);
        case NodeKind::Let: {
            const Let &let = *e.as<Let>();
            lets.emplace(let.name, let.value);
            return build(let.body);
        }
        case NodeKind::IntrinsicCall: return intrinsic(*e.as<IntrinsicCall>());
        case NodeKind::Call: return call(*e.as<Call>());
        default: return data(e.type());
        }
    }

private:
    Growths flat() const { return Growths(variables.size()); }
    Growths none() const { return Growths(variables.size(), Growth::of_data()); }

    Growths constant(const Values &values) {
        program.code.push_back({Op::Constant, values, -1});
        return flat();
    }
    Growths data(Type t) {
        program.has_data = true;
        constant(values_of(t));
        return none();
    }
    Growths number_of(const Expr &e) {
        if (const auto number = estimates.number(e)) {
            return constant({double(*number), double(*number)});
        }
        if (const auto number = estimates.real(e)) return constant({*number, *number});
        return constant(values_of(e.type()));
    }
    Growths call(const Call &c) {
        Growths unknown = data(c.type);
        const auto known = values_of_call ? values_of_call(c) : std::nullopt;
        if (known) program.code.back().value = {double(known->min), double(known->max)};
        return unknown;
    }
    Growths variable(const Variable &v) {
        if (auto let = lets.find(v.name); let != lets.end()) return build(Expr(let->second));
        const int i = variables.find(v.name);
        if (i < 0) return number_of(Expr(&v));
        program.code.push_back({Op::Variable, {}, i});
        Growths growths = flat();
        growths[size_t(i)] = Growth::linear(1);
        return growths;
    }
    Growths cast(const Cast &c) {
        const bool is_rounded = c.value.type().is_float() && c.type.is_int_or_uint();
        Growths growths = build(c.value);
        if (is_rounded) program.code.push_back({Op::Truncate, {}, -1});
        const bool has_room = c.type.is_float() || c.type.bits() >= 32 ||
                              (!is_rounded && c.type.bits() >= c.value.type().bits());
        if (!has_room) limit(values_of(c.type));
        return growths;
    }
    void limit(const Values &values) {
        program.code.push_back({Op::Constant, {values.min, values.min}, -1});
        program.code.push_back({Op::Max, {}, -1});
        program.code.push_back({Op::Constant, {values.max, values.max}, -1});
        program.code.push_back({Op::Min, {}, -1});
    }
    Growths either(const Expr &a, const Expr &b) {
        Growths x = build(a), y = build(b);
        program.code.push_back({Op::Unite, {}, -1});
        for (size_t i = 0; i < x.size(); i++) {
            if (x[i] != y[i]) x[i] = Growth::of_data();
        }
        return x;
    }
    template<typename T>
    Growths binary(const T &node, Op op) {
        program.has_limits |= op == Op::Min || op == Op::Max;
        const Growths a = build(node.a);
        const Growths b = build(node.b);
        program.code.push_back({op, {}, -1});
        Growths result = flat();
        const bool has_factor = op == Op::Mul || op == Op::Div || op == Op::Divide || op == Op::Mod;
        const auto factor = has_factor ? estimates.number(node.b) : std::nullopt;
        const auto first = op == Op::Mul ? estimates.number(node.a) : std::nullopt;
        for (size_t i = 0; i < a.size(); i++) {
            result[i] = growth(op, a[i], b[i], first, factor);
        }
        return result;
    }
    static Growth growth(Op op, const Growth &a, const Growth &b,
                         const std::optional<int64_t> &first,
                         const std::optional<int64_t> &second) {
        const bool has_number = second && b.is_none();
        switch (op) {
        case Op::Add: return a + b;
        case Op::Sub: return a - b;
        case Op::Min:
        case Op::Max:  // a limit that is met at the borders only
            if (b.is_none()) return a;
            return a.is_none() || a == b ? b : Growth::of_data();
        default: break;
        }
        if (a.is_none() && b.is_none()) return {};
        switch (op) {
        case Op::Mul:
            if (has_number) return a.times(double(*second));
            return first && a.is_none() ? b.times(double(*first)) : Growth::of_data();
        case Op::Divide:
            return has_number && *second != 0 ? a.times(1 / double(*second)) : Growth::of_data();
        case Op::Div:
            return has_number && *second > 0 ? through(Growth::of_quotient(*second), a)
                                             : Growth::of_data();
        case Op::Mod:
            return has_number && *second > 0 ? through(Growth::of_rest(*second), a)
                                             : Growth::of_data();
        default: return Growth::of_data();
        }
    }
    Growths intrinsic(const IntrinsicCall &c) {
        switch (c.op) {
        case Intrinsic::likely:
        case Intrinsic::likely_if_innermost:
        case Intrinsic::strict_float:
        case Intrinsic::promise_clamped:
        case Intrinsic::unsafe_promise_clamped: {
            Growths growths = build(c.args[0]);
            if (c.args.size() == 3) {
                const auto min = estimates.number(c.args[1]), max = estimates.number(c.args[2]);
                if (min && max) limit({double(*min), double(*max)});
            }
            return growths;
        }
        case Intrinsic::if_then_else:
            if (c.args.size() == 3) return either(c.args[1], c.args[2]);
            return build(c.args[1]);
        case Intrinsic::return_second: return build(c.args[1]);
        case Intrinsic::shift_right:
        case Intrinsic::shift_left: {
            const auto count = as_const_int(c.args[1]);
            if (!count || *count < 0 || *count > 30) return data(c.type);
            const Expr factor = IntImm::make(Int(64), int64_t(1) << *count);
            const Expr value = Cast::make(Int(64), c.args[0]);
            return build(c.op == Intrinsic::shift_right ? Div::make(value, factor)
                                                        : Mul::make(value, factor));
        }
        case Intrinsic::floor:
        case Intrinsic::ceil:
        case Intrinsic::round:
        case Intrinsic::trunc: return build(c.args[0]);
        default: return data(c.type);
        }
    }

    IndexProgram &program;
    const Variables &variables;
    const Estimates &estimates;
    const ValuesOf &values_of_call;
    std::unordered_map<Symbol, Expr> lets;
};

IndexProgram::IndexProgram(const Expr &e, const Variables &variables, const Estimates &estimates,
                           const ValuesOf &values_of) {
    growths = Builder(*this, variables, estimates, values_of).build(e);
}

IndexProgram::IndexProgram(const Span &values, size_t variables)
    : code{{Op::Constant, {double(values.min), double(values.max)}, -1}}, growths(variables) {}

IndexProgram::Values IndexProgram::evaluate(std::span<const Span> variables) const {
    constexpr size_t usual_depth = 32;
    Values on_stack[usual_depth];
    std::vector<Values> in_memory;
    Values *values = on_stack;
    if (code.size() > usual_depth) {
        in_memory.resize(code.size());
        values = in_memory.data();
    }
    size_t top = 0;
    for (const Instruction &i : code) {
        if (i.op == Op::Constant) {
            values[top++] = i.value;
        } else if (i.op == Op::Variable) {
            const Span &v = variables[size_t(i.variable)];
            values[top++] = {double(v.min), double(v.max)};
        } else if (i.op == Op::Truncate) {
            values[top - 1] = {std::trunc(values[top - 1].min), std::trunc(values[top - 1].max)};
        } else {
            const Values b = values[--top];
            values[top - 1] = binary(i.op, values[top - 1], b);
        }
    }
    return values[0];
}

IndexProgram::Values IndexProgram::binary(Op op, const Values &a, const Values &b) {
    auto of = [&](auto f) -> Values {
        const double all[] = {f(a.min, b.min), f(a.min, b.max), f(a.max, b.min), f(a.max, b.max)};
        return {std::clamp(*std::ranges::min_element(all), -far, far),
                std::clamp(*std::ranges::max_element(all), -far, far)};
    };
    switch (op) {
    case Op::Add: return {std::max(a.min + b.min, -far), std::min(a.max + b.max, far)};
    case Op::Sub: return {std::max(a.min - b.max, -far), std::min(a.max - b.min, far)};
    case Op::Mul: return of([](double x, double y) { return x * y; });
    case Op::Divide:
    case Op::Div:
        if (b.min <= 0 && b.max >= 0) {
            const double most = op == Op::Div ? std::max(std::abs(a.min), std::abs(a.max)) : far;
            return {-most, most};
        }
        if (op == Op::Div) return of(floor_div);
        return of([](double x, double y) { return x / y; });
    case Op::Mod: {
        const double most = std::max(std::abs(b.min), std::abs(b.max)) - 1;
        const bool is_constant = b.min == b.max && b.min > 0;
        if (is_constant && floor_div(a.min, b.min) == floor_div(a.max, b.min)) {
            const double base = floor_div(a.min, b.min) * b.min;
            return {a.min - base, a.max - base};
        }
        return {0, std::max(most, 0.0)};
    }
    case Op::Min: return {std::min(a.min, b.min), std::min(a.max, b.max)};
    case Op::Max: return {std::max(a.min, b.min), std::max(a.max, b.max)};
    case Op::Unite: return {std::min(a.min, b.min), std::max(a.max, b.max)};
    case Op::Constant:
    case Op::Variable:
    case Op::Truncate: break;
    }
    return a;
}

Span IndexProgram::run(std::span<const Span> variables) const {
    const Values v = evaluate(variables);
    return {int64_t(std::floor(v.min)), int64_t(std::ceil(v.max))};
}

}  // namespace tessera::autoscheduler
