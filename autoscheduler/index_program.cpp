#include "autoscheduler/index_program.h"
#include "ir/operators.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

namespace tessera::autoscheduler {

using namespace ir;

namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
// Beyond all coordinates, and far from where sums of a few overflow.
constexpr int64_t far = int64_t(1) << 40;

int64_t clamped(int64_t v) { return std::clamp(v, -far, far); }

int64_t floor_div(int64_t a, int64_t b) {
    if (b == 0) return 0;
    const int64_t q = a / b, r = a % b;
    return r < 0 ? (b > 0 ? q - 1 : q + 1) : q;
}

Span values_of(Type t) {
    if (t.bits() >= 32) return {-far, far};
    if (t.is_uint()) return {0, (int64_t(1) << t.bits()) - 1};
    return {-(int64_t(1) << (t.bits() - 1)), (int64_t(1) << (t.bits() - 1)) - 1};
}

Span product(const Span &a, const Span &b) {
    auto times = [](int64_t x, int64_t y) {
        return int64_t(std::clamp(double(x) * double(y), -double(far), double(far)));
    };
    const int64_t all[] = {times(a.min, b.min), times(a.min, b.max), times(a.max, b.min),
                           times(a.max, b.max)};
    return {*std::ranges::min_element(all), *std::ranges::max_element(all)};
}

Span quotient(const Span &a, const Span &b) {
    if (b.min <= 0 && b.max >= 0) {
        const int64_t most = std::max(std::abs(a.min), std::abs(a.max));
        return {-most, most};
    }
    const int64_t all[] = {floor_div(a.min, b.min), floor_div(a.min, b.max),
                           floor_div(a.max, b.min), floor_div(a.max, b.max)};
    return {*std::ranges::min_element(all), *std::ranges::max_element(all)};
}

Span remainder(const Span &a, const Span &b) {
    const int64_t most = std::max(std::abs(b.min), std::abs(b.max)) - 1;
    if (b.min == b.max && b.min > 0 && floor_div(a.min, b.min) == floor_div(a.max, b.min)) {
        const int64_t base = floor_div(a.min, b.min) * b.min;
        return {a.min - base, a.max - base};
    }
    return {0, std::max<int64_t>(most, 0)};
}

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

// Writes the instructions of an expression; returns how its value grows with each variable.
class IndexProgram::Builder {
public:
    Builder(IndexProgram &program, const Variables &variables, const Estimates &estimates)
        : program(program), variables(variables), estimates(estimates) {}

    using Slopes = std::vector<double>;
    Slopes build(const Expr &e) {
        if (auto number = as_const_int(e)) return constant({*number, *number});
        switch (e.kind()) {
        case NodeKind::Variable: return variable(*e.as<Variable>());
        case NodeKind::BufferProperty: return number_of(e);
        case NodeKind::Cast: return cast(*e.as<Cast>());
        case NodeKind::Add: return binary(*e.as<Add>(), Op::Add);
        case NodeKind::Sub: return binary(*e.as<Sub>(), Op::Sub);
        case NodeKind::Mul: return binary(*e.as<Mul>(), Op::Mul);
        case NodeKind::Div: return binary(*e.as<Div>(), Op::Div);
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
        default: return data(e.type());
        }
    }

private:
    Slopes flat() const { return Slopes(variables.size(), 0); }
    Slopes none() const { return Slopes(variables.size(), no_number); }

    Slopes constant(const Span &values) {
        program.code.push_back({Op::Constant, values, -1});
        return flat();
    }
    Slopes data(Type t) {
        program.has_data = true;
        constant(values_of(t));
        return none();
    }
    Slopes number_of(const Expr &e) {
        const auto number = estimates.number(e);
        return number ? constant({*number, *number}) : constant(values_of(e.type()));
    }
    Slopes variable(const Variable &v) {
        if (auto let = lets.find(v.name); let != lets.end()) return build(Expr(let->second));
        const int i = variables.find(v.name);
        if (i < 0) return number_of(Expr(&v));
        program.code.push_back({Op::Variable, {}, i});
        Slopes slopes = flat();
        slopes[size_t(i)] = 1;
        return slopes;
    }
    Slopes cast(const Cast &c) {
        if (!c.value.type().is_int_or_uint()) return data(c.type);
        Slopes slopes = build(c.value);
        if (c.type.bits() >= c.value.type().bits() || c.type.bits() >= 32) return slopes;
        limit(values_of(c.type));
        return slopes;
    }
    void limit(const Span &values) {
        program.code.push_back({Op::Constant, {values.min, values.min}, -1});
        program.code.push_back({Op::Max, {}, -1});
        program.code.push_back({Op::Constant, {values.max, values.max}, -1});
        program.code.push_back({Op::Min, {}, -1});
    }
    Slopes either(const Expr &a, const Expr &b) {
        Slopes x = build(a), y = build(b);
        program.code.push_back({Op::Unite, {}, -1});
        for (size_t i = 0; i < x.size(); i++) x[i] = x[i] == y[i] ? x[i] : no_number;
        return x;
    }
    template<typename T>
    Slopes binary(const T &node, Op op) {
        const Slopes a = build(node.a);
        const Slopes b = build(node.b);
        program.code.push_back({op, {}, -1});
        Slopes result = flat();
        const auto factor = estimates.number(node.b), first = estimates.number(node.a);
        for (size_t i = 0; i < a.size(); i++) {
            result[i] = slope(op, a[i], b[i], first, factor);
        }
        return result;
    }
    static double slope(Op op, double a, double b, const std::optional<int64_t> &first,
                        const std::optional<int64_t> &second) {
        switch (op) {
        case Op::Add: return a + b;
        case Op::Sub: return a - b;
        case Op::Mul:
            if (a == 0 && b == 0) return 0;
            if (second && b == 0) return a * double(*second);
            return first && a == 0 ? b * double(*first) : no_number;
        case Op::Div:
            if (a == 0 && b == 0) return 0;
            return second && b == 0 && *second != 0 ? a / double(*second) : no_number;
        case Op::Min:
        case Op::Max:  // a limit that is met at the borders only
            if (b == 0) return a;
            return a == 0 || a == b ? b : no_number;
        default: return a == 0 && b == 0 ? 0 : no_number;
        }
    }
    Slopes intrinsic(const IntrinsicCall &c) {
        switch (c.op) {
        case Intrinsic::likely:
        case Intrinsic::likely_if_innermost:
        case Intrinsic::strict_float:
        case Intrinsic::promise_clamped:
        case Intrinsic::unsafe_promise_clamped: {
            Slopes slopes = build(c.args[0]);
            if (c.args.size() == 3) {
                const auto min = estimates.number(c.args[1]), max = estimates.number(c.args[2]);
                if (min && max) limit({*min, *max});
            }
            return slopes;
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
        default: return data(c.type);
        }
    }

    IndexProgram &program;
    const Variables &variables;
    const Estimates &estimates;
    std::unordered_map<Symbol, Expr> lets;
};

IndexProgram::IndexProgram(const Expr &e, const Variables &variables, const Estimates &estimates) {
    slopes = Builder(*this, variables, estimates).build(e);
}

Span IndexProgram::run(std::span<const Span> variables) const {
    constexpr size_t usual_depth = 32;
    Span on_stack[usual_depth];
    std::vector<Span> in_memory;
    Span *values = on_stack;
    if (code.size() > usual_depth) {
        in_memory.resize(code.size());
        values = in_memory.data();
    }
    size_t top = 0;
    for (const Instruction &i : code) {
        if (i.op == Op::Constant || i.op == Op::Variable) {
            values[top++] = i.op == Op::Constant ? i.value : variables[size_t(i.variable)];
            continue;
        }
        const Span b = values[--top];
        Span &a = values[top - 1];
        switch (i.op) {
        case Op::Add: a = {clamped(a.min + b.min), clamped(a.max + b.max)}; break;
        case Op::Sub: a = {clamped(a.min - b.max), clamped(a.max - b.min)}; break;
        case Op::Mul: a = product(a, b); break;
        case Op::Div: a = quotient(a, b); break;
        case Op::Mod: a = remainder(a, b); break;
        case Op::Min: a = {std::min(a.min, b.min), std::min(a.max, b.max)}; break;
        case Op::Max: a = {std::max(a.min, b.min), std::max(a.max, b.max)}; break;
        case Op::Unite: a.unite(b); break;
        case Op::Constant:
        case Op::Variable: break;
        }
    }
    return values[0];
}

}  // namespace tessera::autoscheduler
