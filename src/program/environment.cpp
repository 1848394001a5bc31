#include "program/environment.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/visitor_inl.h"
#include "program/wrapping.h"
#include <algorithm>
#include <unordered_set>

namespace tessera::program {
namespace {

template<typename F>
void for_each_callee(const FunctionRef &f, F visit) {
    const auto visit_callee = [&](const ir::Call &c) {
        if (const FunctionRef callee = callee_of(c, f)) visit(callee);
    };
    for (const DefinitionRef &stage : f->stages) {
        for_each_expr(*stage, [&](const Expr &e) {
            ir::for_each_node(e, [&](const ir::Call &c) {
                if (c.call_kind == CallKind::Func) visit_callee(c);
            });
        });
    }
    if (!f->extern_definition) return;
    for (const ExternFuncArgument &arg : f->extern_definition->args) {
        if (arg.func) visit(argument_of(f, arg));
        if (!arg.scalar.defined()) continue;
        ir::for_each_node(arg.scalar, [&](const ir::Call &c) {
            if (c.call_kind == CallKind::Func) visit_callee(c);
        });
    }
}

// Depth first without recursion: a program may be a chain of thousands of functions.
template<typename Callees>
Environment depth_first(const std::vector<FunctionRef> &outputs, Callees callees_of) {
    struct Frame {
        FunctionRef f;
        std::vector<FunctionRef> callees;
        size_t next = 0;
    };
    Environment env;
    std::vector<Frame> stack;
    auto enter = [&](const FunctionRef &f) {
        if (env.functions.emplace(f->name, f).second) stack.push_back({f, callees_of(f)});
    };
    for (const FunctionRef &output : outputs) {
        enter(output);
        while (!stack.empty()) {
            Frame &top = stack.back();
            if (top.next < top.callees.size()) {
                FunctionRef callee = top.callees[top.next++];
                enter(callee);
            } else {
                env.order.push_back(top.f);
                stack.pop_back();
            }
        }
    }
    return env;
}

class Redirect final : public ir::Mutator {
public:
    Redirect(const FunctionRef &caller, Wrapping &wrapping) : caller(caller), wrapping(wrapping) {}

private:
    Expr visit(const ir::Call &c) override {
        Expr same = Mutator::visit(c);
        if (c.call_kind != CallKind::Func) return same;
        const FunctionRef callee = callee_of(c, caller);
        if (!callee) return same;
        FunctionRef target = wrapping.target(callee, caller);
        if (target->name == c.callee) return same;
        const auto &call = *same.as<ir::Call>();
        return program::call(target, call.args, call.value_index);
    }
    const FunctionRef &caller;
    Wrapping &wrapping;
};

void redirect(Definition &d, Redirect &mutate) {
    for (Expr &e : d.args) e = mutate(e);
    for (Expr &e : d.values) e = mutate(e);
    d.predicate = mutate(d.predicate);
    for (Specialization &s : d.specializations) {
        if (s.definition) redirect(*s.definition, mutate);
    }
}

// Reaches all functions once wrappers are in place. A wrapper for a function that does not call
// what is wrapped would be ignored: then what it reads may be meant, where that is computed inline.
Environment reach_wrapped(const std::vector<FunctionRef> &outputs, Wrapping &wrapping) {
    while (true) {
        wrapping.begin();
        Environment env =
            depth_first(outputs, [&](const FunctionRef &f) { return wrapping.callees_of(f); });
        if (!wrapping.looks_further(env)) return env;
    }
}

}  // namespace

void copy_into(FunctionContents &c, const FunctionContents &f) {
    c.args = f.args;
    c.types = f.types;
    c.definitions = f.definitions;
    c.stages.clear();
    c.stages.reserve(f.stages.size());
    for (const DefinitionRef &d : f.stages) c.stages.push_back(d->copy());
    if (f.extern_definition) {
        c.extern_definition = std::make_shared<ExternDefinition>(*f.extern_definition);
    }
    c.schedule = with_levels_of_now(f.schedule);
    c.output_buffers = f.output_buffers;
    c.required_types = f.required_types;
    c.required_dimensions = f.required_dimensions;
    c.frozen = f.frozen;
    c.dialect = f.dialect;
    c.written = f.written;
}

Ref<FunctionContents> copy(const FunctionContents &f) {
    const auto c = make_ref<FunctionContents>();
    c->name = f.name;
    copy_into(*c, f);
    return c;
}

FunctionRef argument_of(const FunctionRef &user, const ExternFuncArgument &arg) {
    return arg.func.own_family() ? arg.func : user.relative(arg.func->name);
}

FunctionRef callee_of(const ir::Call &call, const FunctionRef &caller) {
    if (call.callee == caller->name) return {};
    if (FunctionRef relative = caller.relative(call.callee)) return relative;
    const FunctionRef called = caller.is_of_program() ? FunctionRef() : called_function(call);
    if (called) return called;
    throw InternalError(str("no function for a call of ", call.callee, " in ", caller->name));
}

std::vector<FunctionRef> direct_callees(const FunctionRef &f) {
    std::vector<FunctionRef> result;
    std::unordered_set<Symbol> seen{f->name};
    for_each_callee(f, [&](const FunctionRef &callee) {
        if (seen.insert(callee->name).second) result.push_back(callee);
    });
    return result;
}

Environment find_transitive_calls(const std::vector<FunctionRef> &outputs) {
    return depth_first(outputs, direct_callees);
}

bool is_user_context(const ExternFuncArgument &arg) {
    const auto *c = arg.scalar.defined() ? arg.scalar.as<ir::IntrinsicCall>() : nullptr;
    return c && c->op == ir::Intrinsic::user_context;
}

static void pass_to_compiled(ExternDefinition &e, const std::vector<ParameterRef> &parameters) {
    if (!e.args.empty() && is_user_context(e.args[0])) e.args.erase(e.args.begin());
    e.uses_user_context = true;
    std::vector<ExternFuncArgument> args;
    size_t next = 0, left = 0;  // values of a function that are yet to be passed
    for (const ParameterRef &p : parameters) {
        if (p->embedded) {
            args.push_back({{}, p, {}});
        } else if (left > 0) {
            left--;
        } else if (next < e.args.size()) {
            args.push_back(e.args[next]);
            if (e.args[next].func) left = e.args[next].func->types.size() - 1;
            next++;
        }
    }
    e.args = std::move(args);
}

ProgramCopy copy_reachable(const Program &program) {
    Wrapping wrapping(program.outputs);
    const Environment originals = reach_wrapped(program.outputs, wrapping);
    const bool any_wrappers = std::ranges::any_of(originals.order, [](const auto &f) {
        return f->made_by != MadeBy::Definition || !f->wrappers.empty();
    });
    ProgramCopy result;
    result.program = program;
    const auto family = make_ref<FunctionFamily>(FunctionFamily::Kind::Program);
    for (const FunctionRef &f : originals.order) {
        const Ref<FunctionContents> copied = copy(*f);
        family->add(copied);
        const FunctionRef c(family, copied);
        Redirect mutate(f, wrapping);
        if (any_wrappers) {
            for (const DefinitionRef &d : c->stages) redirect(*d, mutate);
        }
        result.environment.order.push_back(c);
        result.environment.functions.emplace(c->name, c);
        if (!c->extern_definition) continue;
        auto compiled = program.compiled_externs.find(c->extern_definition->function);
        if (compiled != program.compiled_externs.end()) {
            pass_to_compiled(*c->extern_definition, compiled->second);
        }
        for (ExternFuncArgument &arg : c->extern_definition->args) {
            if (arg.func) {
                const Symbol name = wrapping.target(argument_of(f, arg), f)->name;
                arg.func = result.environment.functions.at(name).without_family();
            }
            if (arg.scalar.defined()) arg.scalar = mutate(arg.scalar);
        }
    }
    for (FunctionRef &output : result.program.outputs) {
        output = result.environment.functions.at(output->name);
    }
    return result;
}

namespace {

class ParameterFinder {
public:
    // The sizes of an output are those of its buffer, which is passed as such.
    void leave_out(const ParameterRef &output_buffer) { seen.insert(output_buffer->name); }
    void add(const Ref<ir::Referent> &referent) {
        auto *p = dynamic_cast<Parameter *>(referent.get());
        if (p && seen.insert(p->name).second) found.push_back(ParameterRef(p));
    }
    void search(const Expr &e) {
        if (!e.defined()) return;
        ir::for_each_node(e, [&](const ir::Variable &v) { add(v.referent); });
        ir::for_each_node(e, [&](const ir::BufferProperty &p) { add(p.referent); });
        ir::for_each_node(e, [&](const ir::Call &c) {
            if (c.call_kind == CallKind::Image) add(c.referent);
        });
    }
    void search_schedules(const Definition &d);
    void search(const FunctionContents &f);
    void search_constraints(const Parameter &p) {
        for (const DimensionConstraint &c : p.constraints) {
            for (const Expr &e : {c.min, c.extent, c.stride}) search(e);
        }
        for (const Expr &e : {p.min_value, p.max_value}) search(e);
    }
    std::vector<ParameterRef> found;

private:
    std::unordered_set<Symbol> seen;
};

void ParameterFinder::search_schedules(const Definition &d) {
    for (const auto &t : d.schedule.transforms) {
        if (const auto *split = std::get_if<Split>(&t.directive)) search(split->factor);
    }
    for (const auto &p : d.schedule.prefetches) search(p.directive.offset);
    for (const Specialization &s : d.specializations) {
        if (s.definition) search_schedules(*s.definition);
    }
}

void ParameterFinder::search(const FunctionContents &f) {
    for (const DefinitionRef &d : f.stages) {
        for_each_expr(*d, [&](const Expr &e) { search(e); });
        search_schedules(*d);
    }
    if (f.extern_definition) {
        for (const ExternFuncArgument &arg : f.extern_definition->args) {
            if (arg.buffer) add(arg.buffer);
            search(arg.scalar);
        }
    }
    for (const auto &b : f.schedule.bounds) {
        for (const Expr &e :
             {b.directive.min, b.directive.extent, b.directive.modulus, b.directive.remainder}) {
            search(e);
        }
    }
    for (const StorageDimension &d : f.schedule.storage) {
        for (const Expr &e : {d.alignment, d.bound, d.fold_factor}) search(e);
    }
    search(f.schedule.ring_buffer);
}

}  // namespace

std::vector<ParameterRef> find_parameters(const Program &program, const Environment &environment) {
    ParameterFinder finder;
    for (const FunctionRef &output : program.outputs) {
        for (const ParameterRef &p : output->output_buffers) finder.leave_out(p);
    }
    for (const FunctionRef &f : environment.order) finder.search(*f);
    for (const Requirement &r : program.requirements) {
        finder.search(r.condition);
        for (const Expr &e : r.message) finder.search(e);
    }
    for (const FunctionRef &output : program.outputs) {
        for (const ParameterRef &p : output->output_buffers) finder.search_constraints(*p);
    }
    for (size_t i = 0; i < finder.found.size(); i++) {  // constraints may refer to more of them
        ParameterRef p = finder.found[i];
        finder.search_constraints(*p);
    }
    return finder.found;
}

}  // namespace tessera::program
