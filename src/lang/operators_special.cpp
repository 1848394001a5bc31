#include "lang/operators.h"
#include "program/define.h"

namespace tessera {
namespace {

using ir::call;
using ir::Intrinsic;

void require_condition(const Expr &e, const char *name) {
    if (!e.defined()) throw CompileError(str(name, ": the condition is an undefined Expr"));
    if (e.type().is_bool()) return;
    throw CompileError(
        str(name, ": the condition is a ", e.type(), ", not a bool; compare it with something"));
}

void require_all(const std::vector<Expr> &values, const char *name) {
    if (values.empty()) throw CompileError(str(name, ": there is no value"));
    for (const Expr &e : values) {
        if (!e.defined()) throw CompileError(str(name, ": a value is an undefined Expr"));
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

Expr undef(Type t) {
    if (!t.defined()) throw CompileError("undef: it needs a type");
    return call(t, Intrinsic::undef, {});
}

Expr print(const std::vector<Expr> &values) {
    require_all(values, "print");
    return call(values[0].type(), Intrinsic::return_second, {print_call(values), values[0]});
}

Expr print_when(const Expr &condition, const std::vector<Expr> &values) {
    require_condition(condition, "print_when");
    require_all(values, "print_when");
    return call(values[0].type(), Intrinsic::if_then_else, {condition, print(values), values[0]});
}

Expr require(const Expr &condition, const std::vector<Expr> &value_and_message) {
    require_condition(condition, "require");
    require_all(value_and_message, "require");
    std::vector<Expr> args{condition, value_and_message[0]};
    std::vector<Expr> message = spaced({value_and_message.begin() + 1, value_and_message.end()});
    args.insert(args.end(), message.begin(), message.end());
    return call(value_and_message[0].type(), Intrinsic::require, args);
}

Expr unsafe_promise_clamped(const Expr &value, const Expr &min, const Expr &max) {
    require_all({value}, "unsafe_promise_clamped");
    Type t = value.type();
    Expr low = min.defined() ? cast(t, min) : t.min(),
         high = max.defined() ? cast(t, max) : t.max();
    return call(t, Intrinsic::unsafe_promise_clamped, {value, low, high});
}

namespace {

Expr several(Intrinsic op, const char *name, const std::vector<Expr> &args) {
    require_all(args, name);
    for (const Expr &e : args) {
        if (e.type() == args[0].type()) continue;
        throw CompileError(
            str(name, ": values of different types, ", args[0].type(), " and ", e.type()));
    }
    return args.size() == 1 ? args[0] : call(args[0].type(), op, args);
}

Expr query(Type t, const char *question, std::vector<Expr> details) {
    details.insert(details.begin(), Expr(question));
    return call(t, Intrinsic::target_query, details);
}

}  // namespace

Expr scatter(const std::vector<Expr> &args) { return several(Intrinsic::scatter, "scatter", args); }
Expr gather(const std::vector<Expr> &args) { return several(Intrinsic::gather, "gather", args); }

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
