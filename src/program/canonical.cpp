#include "program/canonical.h"
#include "ir/equal.h"
#include "ir/mutator.h"
#include "program/key_builder.h"

namespace tessera::program {
namespace {

// Every symbol replaced by one that the order of its first appearance determines.
class NumberSymbols final : public ir::Mutator {
public:
    std::vector<std::string> texts;  // of the symbols, in that order

private:
    Symbol number(Symbol s) {
        auto [found, is_new] = numbers.emplace(s, Symbol());
        if (is_new) {
            texts.push_back(s.text());
            found->second = Symbol::interned(str("#", texts.size()));
        }
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
void add_derived(KeyBuilder &key, const Schedule &s) {
    std::apply([&](auto... members) { (key.add(s.*members), ...); }, Schedule::derived());
}

void add(KeyBuilder &key, const StageSchedule &s) { add_derived(key, s); }
void add(KeyBuilder &key, const FuncSchedule &s) { add_derived(key, s); }

void add(KeyBuilder &key, const Definition &d) {
    for (const Expr &e : d.args) key.add(e);
    for (const Expr &e : d.values) key.add(e);
    for (const ReductionVariable &v : d.reduction) key.add(v);
    key.add(d.predicate);
    key.group([&](KeyBuilder &schedule) { add(schedule, d.schedule); });
    for (const Specialization &s : d.specializations) {
        key.add(s.condition);
        key.add(s.failure_message);
        key.add(s.failure_written);
        if (!s.definition) continue;
        key.group([&](KeyBuilder &inner) { add(inner, *s.definition); });
    }
}

void add(KeyBuilder &key, const ExternDefinition &e) {
    key.add(e.function);
    key.add(e.uses_user_context);
    key.add(e.mangling);
    key.add(e.on_device);
    for (const ExternFuncArgument &arg : e.args) {
        key.add(arg.func ? arg.func->name : Symbol());
        key.add(arg.buffer ? arg.buffer->name : Symbol());
        key.add(arg.scalar);
    }
}

void add(KeyBuilder &key, const FunctionContents &f) {
    key.add(f.name);
    for (Symbol s : f.args) key.add(s);
    for (Type t : f.types) key.add(t);
    for (const DefinitionRef &d : f.stages) {
        key.group([&](KeyBuilder &stage) { add(stage, *d); });
    }
    if (f.extern_definition) add(key, *f.extern_definition);
    key.group([&](KeyBuilder &schedule) { add(schedule, f.schedule); });
}

template<typename Schedule>
bool same(const Schedule &a, const Schedule &b) {
    KeyBuilder of_a(false), of_b(false);
    add(of_a, a);
    add(of_b, b);
    return ir::equal(of_a.as_expr(), of_b.as_expr());
}

}  // namespace

Expr canonical_form(const ProgramCopy &copy) {
    KeyBuilder key(true);
    key.add(copy.program.name);
    key.add(copy.program.trace_pipeline);
    key.add(copy.program.dialect);
    for (const FunctionRef &f : copy.environment.order) {
        key.group([&](KeyBuilder &inner) { add(inner, *f); });
    }
    for (const ParameterRef &p : find_parameters(copy.program, copy.environment)) key.add(*p);
    for (const FunctionRef &f : copy.program.outputs) {
        key.add(f->name);
        for (const ParameterRef &p : f->output_buffers) key.add(*p);
    }
    for (const Requirement &r : copy.program.requirements) key.add(r);
    NumberSymbols number;
    KeyBuilder canonical(true);
    canonical.add(number(key.as_expr()));
    canonical.add(number.texts);
    return canonical.as_expr();
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
