#include "program/canonical.h"
#include "ir/equal.h"
#include "ir/mutator.h"
#include "ir/operators.h"

namespace tessera::program {
namespace {

// A list of facts as expressions, each of a fixed form.
class Facts {
public:
    void text(const std::string &s) { list.push_back(ir::StringImm::make(s)); }
    void number(int64_t n) { list.push_back(ir::IntImm::make(Int(64), n)); }
    void symbol(Symbol s) {
        list.push_back(s.defined() ? ir::Variable::make(Handle(), s) : ir::StringImm::make("-"));
    }
    void expr(const Expr &e) { list.push_back(e.defined() ? e : ir::StringImm::make("-")); }
    void type(Type t) {
        number(int64_t(t.code()));
        number(t.bits());
    }
    void place(const Location &at) { text(place_of_user(at)); }
    void level(const LoopLevel &l) {
        number(l.means_root() ? 1 : l.means_inlined() ? 2 : l.is_at() ? 3 : 0);
        symbol(l.func());
        symbol(l.var());
        number(l.stage());
    }
    void group(const std::vector<Expr> &facts) {
        list.push_back(ir::call(Handle(), ir::Intrinsic::make_struct, facts));
    }
    std::vector<Expr> list;
};

void add(Facts &facts, const LoopTransform &t) {
    std::visit(overloaded{
                   [&](const Split &s) {
                       facts.text("split");
                       for (Symbol x : {s.old, s.outer, s.inner}) facts.symbol(x);
                       facts.expr(s.factor);
                       facts.number(int64_t(s.tail));
                   },
                   [&](const Fuse &f) {
                       facts.text("fuse");
                       for (Symbol x : {f.inner, f.outer, f.fused}) facts.symbol(x);
                   },
                   [&](const Rename &r) {
                       facts.text("rename");
                       for (Symbol x : {r.old, r.new_name}) facts.symbol(x);
                   },
               },
               t);
}

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

void add(Facts &facts, const Definition &d) {
    for (const Expr &e : d.args) facts.expr(e);
    for (const Expr &e : d.values) facts.expr(e);
    for (const ReductionVariable &v : d.reduction) {
        facts.symbol(v.var);
        facts.expr(v.min);
        facts.expr(v.extent);
    }
    facts.expr(d.predicate);
    facts.group(describe(d.schedule));
    for (const auto &t : d.schedule.transforms) facts.place(t.at);
    for (const Specialization &s : d.specializations) {
        facts.expr(s.condition);
        facts.text(s.failure_message);
        facts.place(s.failure_written);
        if (!s.definition) continue;
        Facts inner;
        add(inner, *s.definition);
        facts.group(inner.list);
    }
}

void add(Facts &facts, const Parameter &p) {
    facts.symbol(p.name);
    facts.type(p.type);
    facts.number(p.is_buffer);
    facts.number(p.embedded);
    facts.number(p.dimensions);
    facts.number(p.host_alignment);
    for (const DimensionConstraint &c : p.constraints) {
        for (const Expr &e : {c.min, c.extent, c.stride}) facts.expr(e);
    }
    facts.expr(p.min_value);
    facts.expr(p.max_value);
}

void add(Facts &facts, const ExternDefinition &e) {
    facts.text(e.function);
    facts.number(e.uses_user_context);
    facts.number(int(e.mangling));
    for (const ExternFuncArgument &arg : e.args) {
        facts.symbol(arg.func ? arg.func->name : Symbol());
        facts.symbol(arg.buffer ? arg.buffer->name : Symbol());
        facts.expr(arg.scalar);
    }
}

void add(Facts &facts, const FunctionContents &f) {
    facts.symbol(f.name);
    for (Symbol s : f.args) facts.symbol(s);
    for (Type t : f.types) facts.type(t);
    for (const DefinitionRef &d : f.stages) {
        Facts stage;
        add(stage, *d);
        facts.group(stage.list);
    }
    if (f.extern_definition) add(facts, *f.extern_definition);
    facts.group(describe(f.schedule));
    for (const StorageDimension &d : f.schedule.storage) {
        for (const Location &at : {d.alignment_written, d.bound_written, d.fold_written}) {
            facts.place(at);
        }
    }
    for (const auto &b : f.schedule.bounds) facts.place(b.at);
    facts.place(f.schedule.ring_buffer_written);
}

}  // namespace

std::vector<Expr> describe(const StageSchedule &s) {
    Facts facts;
    for (const auto &t : s.transforms) add(facts, t.directive);
    for (const Loop &l : s.loops) {
        facts.symbol(l.var);
        facts.number(int64_t(l.kind));
        facts.number(l.is_reduction);
        facts.number(int64_t(l.partition));
        facts.number(l.in_call);
    }
    for (const auto &p : s.prefetches) {
        for (Symbol x : {p.directive.what, p.directive.at, p.directive.from}) facts.symbol(x);
        facts.expr(p.directive.offset);
        facts.number(int64_t(p.directive.strategy));
    }
    for (bool flag : {s.atomic, s.override_associativity_test, s.allow_race_conditions,
                      s.stream_stores, s.stream_all_loads}) {
        facts.number(flag);
    }
    for (Symbol x : s.stream_loads) facts.symbol(x);
    return facts.list;
}

std::vector<Expr> describe(const FuncSchedule &s) {
    Facts facts;
    for (const LoopLevel *l : {&s.compute_level, &s.store_level, &s.hoist_level}) facts.level(*l);
    for (const StorageDimension &d : s.storage) {
        facts.symbol(d.var);
        for (const Expr &e : {d.alignment, d.bound, d.fold_factor}) facts.expr(e);
        facts.number(d.fold_forward);
    }
    for (const auto &b : s.bounds) {
        facts.symbol(b.directive.var);
        for (const Expr &e :
             {b.directive.min, b.directive.extent, b.directive.modulus, b.directive.remainder}) {
            facts.expr(e);
        }
    }
    facts.number(int64_t(s.memory));
    facts.number(s.async);
    facts.expr(s.ring_buffer);
    for (bool flag : {s.trace.loads, s.trace.stores, s.trace.realizations, s.no_profiling}) {
        facts.number(flag);
    }
    facts.text(s.trace.tag);
    return facts.list;
}

Expr canonical_form(const ProgramCopy &copy) {
    Facts facts;
    facts.text(copy.program.name);
    facts.number(copy.program.trace_pipeline);
    facts.number(int64_t(copy.program.dialect));
    for (const FunctionRef &f : copy.environment.order) {
        Facts inner;
        add(inner, *f);
        facts.group(inner.list);
    }
    for (const ParameterRef &p : find_parameters(copy.program, copy.environment)) add(facts, *p);
    for (const FunctionRef &f : copy.program.outputs) {
        facts.symbol(f->name);
        for (const ParameterRef &p : f->output_buffers) add(facts, *p);
    }
    for (const Requirement &r : copy.program.requirements) {
        facts.expr(r.condition);
        for (const Expr &e : r.message) facts.expr(e);
        facts.place(r.at);
    }
    return NumberSymbols()(ir::call(Handle(), ir::Intrinsic::make_struct, facts.list));
}

namespace {

bool same(const std::vector<Expr> &a, const std::vector<Expr> &b) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); i++) {
        if (!ir::equal(a[i], b[i])) return false;
    }
    return true;
}

}  // namespace

bool same_schedule(const StageSchedule &a, const StageSchedule &b) {
    return same(describe(a), describe(b));
}
bool same_schedule(const FuncSchedule &a, const FuncSchedule &b) {
    return same(describe(a), describe(b));
}
bool same_schedule(const FunctionContents &a, const FunctionContents &b) {
    if (a.stages.size() != b.stages.size() || !same_schedule(a.schedule, b.schedule)) return false;
    for (size_t i = 0; i < a.stages.size(); i++) {
        if (!same_schedule(a.stages[i]->schedule, b.stages[i]->schedule)) return false;
    }
    return true;
}

}  // namespace tessera::program
