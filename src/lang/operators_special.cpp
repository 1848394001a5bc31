#include "algebra/simplify.h"
#include "base/dialect.h"
#include "base/places_in_messages.h"
#include "base/warning.h"
#include "lang/call_site.h"
#include "lang/operators.h"
#include "program/define.h"

namespace tessera {
namespace {

using ir::call;
using ir::Intrinsic;

void require_condition(const Expr &e, const CallSite &site) {
    if (!e.defined()) site.refuse("the condition is an undefined Expr");
    if (e.type().is_bool()) return;
    site.refuse(str("the condition is a ", e.type(), ", not a bool; compare it with something"));
}

void require_all(const std::vector<Expr> &values, const CallSite &site) {
    if (values.empty()) site.refuse("there is no value");
    for (const Expr &e : values) {
        if (!e.defined()) site.refuse("a value is an undefined Expr");
    }
}

std::vector<Expr> spaced(const std::vector<Expr> &values) {
    std::vector<Expr> parts;
    for (const Expr &e : values) {
        if (!parts.empty()) parts.push_back(Expr(" "));
        parts.push_back(e);
    }
    return parts;
}

// The text of the values with spaces between them, and an end of line.
Expr line_of(const std::vector<Expr> &values) {
    std::vector<Expr> parts = spaced(values);
    parts.push_back(Expr("\n"));
    return call(Handle(), Intrinsic::stringify, parts);
}

Expr print_call(const std::vector<Expr> &values) {
    Expr context = call(Handle(), Intrinsic::user_context, {});
    return ir::ExternCall::make(Int(32), "tessera_print", {context, line_of(values)}, false);
}

}  // namespace

Expr random_float(const Expr &seed, Location at) {
    return program::random_call(Float(32), seed, at);
}
Expr random_uint(const Expr &seed, Location at) { return program::random_call(UInt(32), seed, at); }
Expr random_int(const Expr &seed, Location at) { return program::random_call(Int(32), seed, at); }
void reset_random_counters() { program::reset_random_counters(); }

Expr undef(Type t, Location at) {
    if (!t.defined()) throw CompileError(at, "undef: it needs a type");
    return call(t, Intrinsic::undef, {});
}

Expr print(const std::vector<Expr> &values, Location at) {
    require_all(values, {"print", at});
    return call(values[0].type(), Intrinsic::return_second, {print_call(values), values[0]});
}

Expr print_when(const Expr &condition, const std::vector<Expr> &values, Location at) {
    const CallSite site{"print_when", at};
    require_condition(condition, site);
    require_all(values, site);
    return call(values[0].type(), Intrinsic::if_then_else, {condition, print(values), values[0]});
}

Expr require(const Expr &condition, const std::vector<Expr> &value_and_message, Location at) {
    const CallSite site{"require", at};
    require_condition(condition, site);
    require_all(value_and_message, site);
    const Expr &value = value_and_message[0];
    if (value.as<ir::StringImm>()) {
        site.refuse("after the condition comes the value, and then the message, as in "
                    "require(x > 0, x, \"x is not positive\")");
    }
    if (dialect() == Dialect::Halide && ir::is_false(algebra::simplify(condition))) {
        warn(at, "what is required here never holds: the pipeline fails wherever it runs");
    }
    std::vector<Expr> args{condition, value, Expr(remembered_place(at))};
    std::vector<Expr> message = spaced({value_and_message.begin() + 1, value_and_message.end()});
    args.insert(args.end(), message.begin(), message.end());
    return call(value.type(), Intrinsic::require, args);
}

Expr unsafe_promise_clamped(const Expr &value, const Expr &min, const Expr &max, Location at) {
    const CallSite site{"unsafe_promise_clamped", at};
    require_all({value}, site);
    Type t = value.type();
    for (const Expr &end : {min, max}) {
        if (!end.defined() || end.type() == t ||
            (ir::is_const(end) && t.is_float() == end.type().is_float()))
            continue;
        site.refuse(str("the value is a ", t, ", but an end of its range is a ", end.type()));
    }
    Expr low = min.defined() ? cast(t, min, site.at) : t.min(),
         high = max.defined() ? cast(t, max, site.at) : t.max();
    return call(t, Intrinsic::unsafe_promise_clamped, {value, low, high});
}

namespace {

Expr several(Intrinsic op, const CallSite &site, const std::vector<Expr> &args) {
    require_all(args, site);
    for (const Expr &e : args) {
        if (e.type() == args[0].type()) continue;
        site.refuse(str("values of different types, ", args[0].type(), " and ", e.type()));
    }
    return args.size() == 1 ? args[0] : call(args[0].type(), op, args);
}

Expr query(Type t, const char *question, std::vector<Expr> details) {
    details.insert(details.begin(), Expr(question));
    return call(t, Intrinsic::target_query, details);
}

}  // namespace

Expr scatter(const std::vector<Expr> &args, Location at) {
    return several(Intrinsic::scatter, {"scatter", at}, args);
}
Expr gather(const std::vector<Expr> &args, Location at) {
    return several(Intrinsic::gather, {"gather", at}, args);
}

Expr target_arch_is(Target::Arch arch) { return query(Bool(), "arch_is", {Expr(int(arch))}); }
Expr target_os_is(Target::OS os) { return query(Bool(), "os_is", {Expr(int(os))}); }
Expr target_has_feature(Target::Feature feature) {
    return query(Bool(), "has_feature", {Expr(int(feature))});
}
Expr target_bits() { return query(Int(32), "bits", {}); }
Expr target_natural_vector_size(Type t) {
    return query(Int(32), "natural_vector_size", {Expr(int(t.code())), Expr(t.bits())});
}

}  // namespace tessera
