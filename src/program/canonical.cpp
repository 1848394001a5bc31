#include "program/canonical.h"
#include "ir/equal.h"
#include "ir/mutator.h"
#include "program/facts.h"

namespace tessera::program {
namespace {

// Every symbol replaced by one that its text and the order of its first appearance determine.
class NumberSymbols final : public ir::Mutator {
private:
    Symbol number(Symbol s) {
        auto [found, is_new] = numbers.emplace(s, Symbol());
        if (is_new) found->second = Symbol::interned(str(s, "#", numbers.size()));
        return found->second;
    }
    Expr visit(const ir::Variable &v) override {
        return ir::Variable::make(v.type, number(v.name));
    }
    Expr visit(const ir::BufferProperty &b) override {
        return ir::BufferProperty::make(number(b.buffer), b.field, b.dim);
    }
    Expr visit(const ir::Let &let) override {
        Expr value = (*this)(let.value);
        Symbol name = number(let.name);
        return ir::Let::make(name, value, (*this)(let.body));
    }
    Expr visit(const ir::Call &c) override {
        std::vector<Expr> args;
        for (const Expr &e : c.args) args.push_back((*this)(e));
        return ir::Call::make(c.type, number(c.callee), c.call_kind, c.value_index,
                              std::move(args));
    }
    std::unordered_map<Symbol, Symbol> numbers;
};

template<typename Schedule>
void add_derived(Facts &facts, const Schedule &s) {
    std::apply([&](auto... members) { (facts.add(s.*members), ...); }, Schedule::derived());
}

void add(Facts &facts, const StageSchedule &s) { add_derived(facts, s); }
void add(Facts &facts, const FuncSchedule &s) { add_derived(facts, s); }

void add(Facts &facts, const Definition &d) {
    for (const Expr &e : d.args) facts.add(e);
    for (const Expr &e : d.values) facts.add(e);
    for (const ReductionVariable &v : d.reduction) facts.add(v);
    facts.add(d.predicate);
    facts.group([&](Facts &schedule) { add(schedule, d.schedule); });
    for (const Specialization &s : d.specializations) {
        facts.add(s.condition);
        facts.add(s.failure_message);
        facts.add(s.failure_written);
        if (!s.definition) continue;
        facts.group([&](Facts &inner) { add(inner, *s.definition); });
    }
}

void add(Facts &facts, const ExternDefinition &e) {
    facts.add(e.function);
    facts.add(e.uses_user_context);
    facts.add(e.mangling);
    for (const ExternFuncArgument &arg : e.args) {
        facts.add(arg.func ? arg.func->name : Symbol());
        facts.add(arg.buffer ? arg.buffer->name : Symbol());
        facts.add(arg.scalar);
    }
}

void add(Facts &facts, const FunctionContents &f) {
    facts.add(f.name);
    for (Symbol s : f.args) facts.add(s);
    for (Type t : f.types) facts.add(t);
    for (const DefinitionRef &d : f.stages) {
        facts.group([&](Facts &stage) { add(stage, *d); });
    }
    if (f.extern_definition) add(facts, *f.extern_definition);
    facts.group([&](Facts &schedule) { add(schedule, f.schedule); });
}

template<typename Schedule>
bool same(const Schedule &a, const Schedule &b) {
    Facts of_a(false), of_b(false);
    add(of_a, a);
    add(of_b, b);
    return ir::equal(of_a.as_expr(), of_b.as_expr());
}

}  // namespace

Expr canonical_form(const ProgramCopy &copy) {
    Facts facts(true);
    facts.add(copy.program.name);
    facts.add(copy.program.trace_pipeline);
    facts.add(copy.program.dialect);
    for (const FunctionRef &f : copy.environment.order) {
        facts.group([&](Facts &inner) { add(inner, *f); });
    }
    for (const ParameterRef &p : find_parameters(copy.program, copy.environment)) facts.add(*p);
    for (const FunctionRef &f : copy.program.outputs) {
        facts.add(f->name);
        for (const ParameterRef &p : f->output_buffers) facts.add(*p);
    }
    for (const Requirement &r : copy.program.requirements) facts.add(r);
    return NumberSymbols()(facts.as_expr());
}

bool same_schedule(const StageSchedule &a, const StageSchedule &b) { return same(a, b); }
bool same_schedule(const FuncSchedule &a, const FuncSchedule &b) { return same(a, b); }
bool same_schedule(const FunctionContents &a, const FunctionContents &b) {
    if (a.stages.size() != b.stages.size() || !same_schedule(a.schedule, b.schedule)) return false;
    for (size_t i = 0; i < a.stages.size(); i++) {
        if (!same_schedule(a.stages[i]->schedule, b.stages[i]->schedule)) return false;
    }
    return true;
}

}  // namespace tessera::program
