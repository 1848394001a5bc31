#include "lang/param.h"
#include "ir/printer.h"
#include "lang/var.h"
#include "program/apply_checks.h"
#include <cmath>

namespace tessera::detail {

program::ParameterRef new_scalar(Type type, const std::string &name, Location at) {
    if (!type.defined() || type.is_vector()) {
        throw CompileError(at, "Param: the type of a parameter is that of one number");
    }
    return program::make_scalar_parameter(Symbol::fresh(name.empty() ? unique_name("p") : name),
                                          type);
}

bool is_integer_of(Type t, double value) {
    double end = std::ldexp(1.0, t.is_int() ? t.bits() - 1 : t.bits());
    double lowest = t.is_int() ? -end : 0;
    return value >= lowest && value < end && value == std::trunc(value);
}

void set_scalar(program::Parameter &p, Type given, uint64_t bits, Location at) {
    if (given != p.type) {
        throw CompileError(at,
                           str("Param ", p.name, " is a ", p.type, ", but is set to a ", given));
    }
    p.scalar_bits = bits;
    p.scalar_is_set = true;
}

uint64_t scalar_bits(const program::Parameter &p, Type wanted, Location at) {
    if (wanted != p.type) {
        throw CompileError(at,
                           str("Param ", p.name, " is a ", p.type, ", but is read as a ", wanted));
    }
    return p.scalar_bits;
}

namespace {

Expr value_for(const program::Parameter &p, const Expr &e, const char *directive, Location at) {
    program::require_parameters_only(e, directive, at);
    if (p.type.is_handle() || e.type().is_handle()) {
        throw CompileError(at, str(directive, ": the Param ", p.name, " is a handle"));
    }
    if (!ir::may_hold(p.type, e)) {
        throw CompileError(at, str(directive, ": the Param ", p.name, " is of type ", p.type,
                                   ", which cannot hold ", e));
    }
    return cast(p.type, e);
}

}  // namespace

void set_limits(program::Parameter &p, const Expr &min, const Expr &max, Location at) {
    if (min.defined()) p.min_value = value_for(p, min, "set_min_value", at);
    if (max.defined()) p.max_value = value_for(p, max, "set_max_value", at);
    p.version.note_change();
}

void set_estimate(program::Parameter &p, const Expr &value, Location at) {
    p.estimate = value_for(p, value, "set_estimate", at);
}

}  // namespace tessera::detail
