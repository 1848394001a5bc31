#pragma once
#include "program/program.h"
#include <unordered_map>

namespace tessera::program {

// The functions of a program, producers before their consumers; outputs in their order, as far as
// that allows.
struct Environment {
    std::vector<FunctionRef> order;
    std::unordered_map<Symbol, FunctionRef> functions;
};

// All functions that the outputs reach, as they were written: calls of a wrapped function lead to
// itself, and its wrappers are reached only if they are called by name. Time is linear in the size
// of the program.
Environment find_transitive_calls(const std::vector<FunctionRef> &outputs);

// The function that a call in a definition of `caller` is of: one of the caller's family, or that
// of the call's referent. Null if it is the caller itself.
FunctionRef callee_of(const ir::Call &call, const FunctionRef &caller);

// The function that is an argument of the extern stage `user`.
FunctionRef argument_of(const FunctionRef &user, const ExternFuncArgument &arg);

// The functions that `f` calls, each once, in the order of their first call; never f itself.
std::vector<FunctionRef> direct_callees(const FunctionRef &f);

// A function of the same name with definitions and a schedule of its own, but no wrappers, and of
// no family.
Ref<FunctionContents> copy(const FunctionContents &f);
// Makes a function without a definition such a copy; it keeps its name.
void copy_into(FunctionContents &copy, const FunctionContents &f);

// Returns true if an argument of an extern stage is the user context of the call.
bool is_user_context(const ExternFuncArgument &arg);

struct ProgramCopy {
    Program program;          // its outputs are copies
    Environment environment;  // of the copies
};

// A copy of the program whose definitions and schedules may be changed freely, as lowering does.
// Wrappers are in place: where a function has one (in, clone_in) for a consumer, the consumer
// calls the wrapper. The copies are a program that is a value: calls are of copies.
ProgramCopy copy_reachable(const Program &program);

// The buffers and scalar parameters that the functions and requirements refer to, each once, in
// the order in which they are met.
std::vector<ParameterRef> find_parameters(const Program &program, const Environment &environment);

// Calls visit(expression) for every expression of the definition, its specializations included.
template<typename F>
void for_each_expr(const Definition &d, F &&visit) {
    for (const Expr &e : d.args) visit(e);
    for (const Expr &e : d.values) visit(e);
    for (const ReductionVariable &v : d.reduction) {
        visit(v.min);
        visit(v.extent);
    }
    if (d.predicate.defined()) visit(d.predicate);
    for (const Specialization &s : d.specializations) {
        visit(s.condition);
        if (s.definition) for_each_expr(*s.definition, visit);
    }
}

}  // namespace tessera::program
