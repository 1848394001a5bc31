#include "lang/jit_externs.h"
#include "ir/visitor.h"

namespace tessera::detail {

using program::ExternFuncArgument;
using program::FunctionContents;
using program::FunctionRef;
using program::ParameterRef;

namespace {

program::Program program_of(const std::string &name, const FunctionRef &f) {
    program::Program program;
    program.name = name;
    program.outputs = {f};
    return program;
}

std::vector<ParameterRef> parameters_of(const std::string &name, const FunctionRef &f) {
    program::ProgramCopy copy = program::copy_reachable(program_of(name, f));
    return program::find_parameters(copy.program, copy.environment);
}

// Describes what is passed: a number of a type, or a buffer of elements of a type.
struct Passed {
    Type type;
    int dimensions = -1;  // of a buffer

    friend bool operator==(const Passed &, const Passed &) = default;
    friend std::ostream &operator<<(std::ostream &out, const Passed &p) {
        if (p.dimensions < 0) return out << p.type;
        return out << "a buffer of " << p.type << " with " << p.dimensions << " dimension"
                   << (p.dimensions == 1 ? "" : "s");
    }
};

// By the extern stage, but for the user context in the first place, which is passed anyway.
std::vector<Passed> passed_by(const FunctionContents &stage) {
    std::vector<Passed> all;
    bool is_first = true;
    for (const ExternFuncArgument &a : stage.extern_definition->args) {
        const bool is_context = std::exchange(is_first, false) && program::is_user_context(a);
        if (a.scalar.defined() && !is_context) all.push_back({a.scalar.type()});
        if (a.buffer) all.push_back({a.buffer->type, a.buffer->dimensions});
        if (!a.func) continue;
        for (Type t : a.func->types) all.push_back({t, a.func->dimensions()});
    }
    for (Type t : stage.types) all.push_back({t, stage.dimensions()});
    return all;
}

// The buffers that it holds are no matter of its caller's.
std::vector<Passed> taken_by(const FunctionContents &f, const std::vector<ParameterRef> &params) {
    std::vector<Passed> all;
    for (const ParameterRef &p : params) {
        if (p->embedded) continue;
        all.push_back(p->is_buffer ? Passed{p->type, p->dimensions} : Passed{p->type});
    }
    for (Type t : f.types) all.push_back({t, f.dimensions()});
    return all;
}

std::string listed(const std::vector<Passed> &all) {
    std::vector<std::string> texts;
    for (const Passed &p : all) texts.push_back(str(p));
    return texts.empty() ? "nothing" : join(texts);
}

void require_agreement(const FunctionContents &stage, const FunctionContents &f,
                       const std::vector<ParameterRef> &params) {
    const std::vector<Passed> passed = passed_by(stage), taken = taken_by(f, params);
    if (passed == taken) return;
    throw CompileError(
        stage.extern_definition->written,
        str("extern stage ", stage.name, ": set_jit_externs() makes the Func ", f.name,
            " the function ", stage.extern_definition->function, ", which takes (", listed(taken),
            "), its parameters and then its values, ", "but is passed (", listed(passed), ")"));
}

// A Func computes buffers of values.
void require_no_calls(const FunctionContents &caller, const std::string &name,
                      const FunctionContents &f) {
    for (const program::DefinitionRef &stage : caller.stages) {
        program::for_each_expr(*stage, [&](const Expr &e) {
            ir::for_each_node(e, [&](const ir::ExternCall &c) {
                if (c.function != name) return;
                throw CompileError(stage->written,
                                   str(caller.name, " calls ", name,
                                       " for one value, but set_jit_externs() makes that the Func ",
                                       f.name, ", which computes buffers; give it a C function"));
            });
        });
    }
}

}  // namespace

std::map<std::string, std::vector<ParameterRef>>
parameters_of_externs(const JITExterns &externs, const program::Environment &environment) {
    std::map<std::string, std::vector<ParameterRef>> all;
    for (const auto &[name, e] : externs) {
        if (!e.func()) continue;
        all[name] = parameters_of(name, e.func());
        for (const FunctionRef &f : environment.order) {
            require_no_calls(*f, name, *e.func());
            const bool is_stage = f->extern_definition && f->extern_definition->function == name;
            if (is_stage) require_agreement(*f, *e.func(), all[name]);
        }
    }
    return all;
}

driver::Externs compile_externs(const JITExterns &externs, const Target &target) {
    driver::Externs found{registered_externs(), {}};
    const Target to_call = target.without_feature(Target::Interpret);
    for (const auto &[name, e] : externs) {
        if (e.address()) {
            found.symbols[name] = e.address();
            continue;
        }
        found.compiled.push_back(
            driver::compile(program_of(name, e.func()), to_call, {registered_externs(), {}}));
        found.symbols[name] = found.compiled.back()->address();
    }
    return found;
}

}  // namespace tessera::detail
