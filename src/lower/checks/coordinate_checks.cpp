#include "lower/checks/coordinate_checks.h"
#include "algebra/simplify.h"
#include "ir/operators.h"
#include "lower/checks/errors.h"
#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::lower {

using namespace ir;

namespace {

constexpr double largest_trusted_scale = 16;
// Of both ends of a region: then its extent fits, too.
constexpr int64_t largest_coordinate = int64_t(1) << 30;

Stmt check_product(const std::string &name, const Mul &product) {
    Expr wide = cast(Int(64), product.a) * cast(Int(64), product.b);
    Expr limit = IntImm::make(Int(64), largest_coordinate);
    return AssertStmt::make(algebra::simplify(-limit <= wide && wide <= limit),
                            error_call("coordinates_too_large", {Expr(name), wide}));
}

}  // namespace

void CoordinateChecks::add(const std::string &name, const Expr &end) {
    if (end.type() != Int(32)) return;
    current = name;
    scale(end);
}

void CoordinateChecks::bind(Symbol name, const Expr &end) {
    add(name.text(), end);
    variable_scales[name] = scale(end);
}

double CoordinateChecks::scale(const Expr &e) {
    auto found = scales.find(e.get());
    if (found != scales.end()) return found->second;
    double s = compute_scale(e);
    const auto *product = e.as<Mul>();
    if (product && e.type() == Int(32) && s > largest_trusted_scale) {
        asserts.push_back(check_product(current, *product));
    }
    alive.push_back(e);
    return scales[e.get()] = s;
}

double CoordinateChecks::compute_scale(const Expr &e) {
    if (as_const_int(e)) return 0;
    switch (e.kind()) {
    case NodeKind::Variable: {
        auto found = variable_scales.find(e.as<Variable>()->name);
        return found == variable_scales.end() ? 1 : found->second;
    }
    case NodeKind::Mul: return scale_of_product(*e.as<Mul>());
    case NodeKind::Div: {
        double of = scale(e.as<Div>()->a);
        auto by = as_const_int(e.as<Div>()->b);
        return by && *by != 0 ? of / std::fabs(double(*by)) : of;
    }
    case NodeKind::Mod: return scale(e.as<Mod>()->b);
    case NodeKind::Add: return std::max(scale(e.as<Add>()->a), scale(e.as<Add>()->b));
    case NodeKind::Sub: return std::max(scale(e.as<Sub>()->a), scale(e.as<Sub>()->b));
    case NodeKind::Min: return std::max(scale(e.as<Min>()->a), scale(e.as<Min>()->b));
    case NodeKind::Max: return std::max(scale(e.as<Max>()->a), scale(e.as<Max>()->b));
    case NodeKind::Select:
        return std::max(scale(e.as<Select>()->true_value), scale(e.as<Select>()->false_value));
    default: return 1;
    }
}

double CoordinateChecks::scale_of_product(const Mul &product) {
    double a = scale(product.a), b = scale(product.b);
    if (auto by = as_const_int(product.b)) return a * std::fabs(double(*by));
    if (auto by = as_const_int(product.a)) return b * std::fabs(double(*by));
    return std::numeric_limits<double>::infinity();
}

}  // namespace tessera::lower
