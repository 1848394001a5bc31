#include "lower/checks/coordinate_checks.h"
#include "algebra/simplify.h"
#include "ir/operators.h"
#include "lower/checks/errors.h"
#include "program/parameter.h"
#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::lower {

using namespace ir;

namespace {

constexpr double largest_trusted_scale = 16;
// So many times 2^31 fits 64 bits, even many times over in a sum.
constexpr double largest_exact_scale = double(int64_t(1) << 24);
// Holds for both ends of a region: then its extent fits, too.
constexpr int64_t largest_coordinate = int64_t(1) << 30;
// Coordinates of an output, where all that is trusted is.
constexpr double trusted_coordinate = double(largest_coordinate) / largest_trusted_scale;

// Returns true if the operation wraps where its value does not fit.
bool may_overflow(const Expr &e) {
    return e.type() == Int(32) && (e.as<Mul>() || e.as<Add>() || e.as<Sub>());
}

double scale_of_any(Type t) {
    if (t.is_float()) return std::numeric_limits<double>::infinity();
    return std::ldexp(1.0, t.bits()) / trusted_coordinate;
}

}  // namespace

bool is_float_made_integer(const IntrinsicCall &call) {
    return call.op == Intrinsic::saturating_cast && call.type.is_int_or_uint() &&
           call.args[0].type().is_float();
}

void CoordinateChecks::bind_scalar(const Argument &a, const Expr &min, const Expr &max) {
    double &scale = variable_scales[a.name] = scale_of_any(a.type);
    if (!min.defined() || !max.defined()) return;
    auto least = as_const_int(min), greatest = as_const_int(max);
    if (!least || !greatest) return;
    scale = std::max(std::fabs(double(*least)), std::fabs(double(*greatest))) / trusted_coordinate;
}

void CoordinateChecks::add(const std::string &name, const Expr &end) {
    if (end.type() != Int(32)) return;
    current = name;
    if (scale(end) > largest_trusted_scale) {
        check(end);
    } else {
        largest_unchecked = std::max(largest_unchecked, scale(end));
    }
}

void CoordinateChecks::bind(Symbol name, const Expr &end) {
    add(name.text(), end);
    variable_scales[name] = scale(end);
    if (end.type() == Int(32)) checked.insert(name);
}

void CoordinateChecks::require(const std::string &name, const Expr &end) {
    current = name;
    scale(end);  // checks what is within a min, max or select
    check(end);
}

void CoordinateChecks::check_argument(const Argument &buffer, int d) {
    bool is_output = buffer.kind == ArgumentKind::OutputBuffer;
    double scale = is_output ? largest_unchecked : 1;
    Expr lowest = IntImm::make(Int(64), -int64_t(double(largest_coordinate) / scale));
    Expr highest = is_output ? -lowest : IntImm::make(Int(64), INT32_MAX);
    Expr first = cast(Int(64), BufferProperty::make(buffer.name, BufferField::Min, d));
    Expr extent = cast(Int(64), BufferProperty::make(buffer.name, BufferField::Extent, d));
    // A buffer of other dimensions is reported later.
    Expr other = BufferProperty::make(buffer.name, BufferField::Dimensions, 0) != buffer.dimensions;
    auto require = [&](const char *end, const Expr &fits, const Expr &value) {
        Expr name(str(buffer.name, end, d));
        asserts.push_back(AssertStmt::make(
            other || fits, error_call("coordinates_too_large", {name, value, lowest, highest})));
    };
    Expr last = first + extent - 1;
    require(".min.", algebra::simplify(first >= lowest), first);
    require(".max.", algebra::simplify(last <= highest), last);
}

void CoordinateChecks::check(const Expr &e) {
    const auto *v = e.as<Variable>();
    if (v && checked.count(v->name)) return;
    if (!looked_at.insert(e.get()).second) return;
    alive.push_back(e);
    Expr wide = in_64_bits(e), limit = IntImm::make(Int(64), largest_coordinate);
    Expr fits = algebra::simplify(-limit <= wide && wide <= limit);
    if (is_true(fits)) return;
    asserts.push_back(AssertStmt::make(
        fits, error_call("coordinates_too_large", {Expr(current), wide, -limit, limit})));
}

// Sums and products within one another need no check of their own: where the whole fits, it is
// right, whatever wrapped on the way. Factors of what 64 bits may be too few for do.
Expr CoordinateChecks::in_64_bits(const Expr &e) {
    if (!may_overflow(e)) return cast(Int(64), e);
    auto found = wide_values.find(e.get());
    if (found != wide_values.end()) return found->second;
    Expr made;
    if (const auto *add = e.as<Add>()) {
        made = in_64_bits(add->a) + in_64_bits(add->b);
    } else if (const auto *sub = e.as<Sub>()) {
        made = in_64_bits(sub->a) - in_64_bits(sub->b);
    } else {
        const auto &mul = *e.as<Mul>();
        if (scale(e) < largest_exact_scale) {
            made = in_64_bits(mul.a) * in_64_bits(mul.b);
        } else {
            check_operand(mul.a);
            check_operand(mul.b);
            made = cast(Int(64), mul.a) * cast(Int(64), mul.b);
        }
    }
    alive.push_back(e);
    return wide_values[e.get()] = made;
}

void CoordinateChecks::check_operand(const Expr &e) {
    if (may_overflow(e) && scale(e) > largest_trusted_scale) check(e);
}

double CoordinateChecks::scale(const Expr &e) {
    auto found = scales.find(e.get());
    if (found != scales.end()) return found->second;
    double s = compute_scale(e);
    alive.push_back(e);
    return scales[e.get()] = s;
}

double CoordinateChecks::scale_of_term(const Expr &e) {
    auto constant = as_const_int(e);
    return constant ? std::fabs(double(*constant)) / trusted_coordinate : scale(e);
}

double CoordinateChecks::scale_of_operand(const Expr &e) {
    check_operand(e);
    return scale(e);
}

double CoordinateChecks::compute_scale(const Expr &e) {
    if (as_const_int(e)) return 0;
    switch (e.kind()) {
    case NodeKind::Variable: return scale_of_variable(*e.as<Variable>());
    case NodeKind::Cast: return scale_of_operand(e.as<Cast>()->value);
    case NodeKind::Mul: return scale_of_product(*e.as<Mul>());
    case NodeKind::Div: {
        double of = scale_of_operand(e.as<Div>()->a);
        auto by = as_const_int(e.as<Div>()->b);
        return by && *by != 0 ? of / std::fabs(double(*by)) : of;
    }
    case NodeKind::Mod: check_operand(e.as<Mod>()->a); return scale_of_operand(e.as<Mod>()->b);
    case NodeKind::Add:
        return std::max(scale_of_term(e.as<Add>()->a), scale_of_term(e.as<Add>()->b));
    case NodeKind::Sub:
        return std::max(scale_of_term(e.as<Sub>()->a), scale_of_term(e.as<Sub>()->b));
    case NodeKind::Min:
        return std::max(scale_of_operand(e.as<Min>()->a), scale_of_operand(e.as<Min>()->b));
    case NodeKind::Max:
        return std::max(scale_of_operand(e.as<Max>()->a), scale_of_operand(e.as<Max>()->b));
    case NodeKind::Select:
        return std::max(scale_of_operand(e.as<Select>()->true_value),
                        scale_of_operand(e.as<Select>()->false_value));
    case NodeKind::Reinterpret: return scale_of_operand(e.as<Reinterpret>()->value);
    case NodeKind::IntrinsicCall: {
        const auto &call = *e.as<IntrinsicCall>();
        double largest = 1;
        for (const Expr &arg : call.args) largest = std::max(largest, scale_of_operand(arg));
        bool grows = call.op == Intrinsic::shift_left || is_float_made_integer(call);
        return grows ? std::numeric_limits<double>::infinity() : largest;
    }
    default: return 1;
    }
}

// A scalar argument that was not bound may be any number; all other variables are coordinates.
double CoordinateChecks::scale_of_variable(const Variable &v) {
    auto found = variable_scales.find(v.name);
    if (found != variable_scales.end()) return found->second;
    bool is_scalar = dynamic_cast<const program::Parameter *>(v.referent.get()) != nullptr;
    return is_scalar ? scale_of_any(v.type) : 1;
}

double CoordinateChecks::scale_of_product(const Mul &product) {
    double a = scale(product.a), b = scale(product.b);
    if (auto by = as_const_int(product.b)) return a * std::fabs(double(*by));
    if (auto by = as_const_int(product.a)) return b * std::fabs(double(*by));
    return std::numeric_limits<double>::infinity();
}

}  // namespace tessera::lower
