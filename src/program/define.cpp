#include "program/define.h"
#include "base/dialect.h"
#include "base/warning.h"
#include "ir/equal.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/visitor_inl.h"
#include "program/apply_checks.h"
#include "program/expr_as_source.h"
#include "program/scatter.h"
#include <algorithm>
#include <atomic>

namespace tessera::program {
namespace {

std::atomic<int> random_calls{0}, random_definitions{0};

ReductionDomain *domain_behind(const ir::Variable &v) {
    return dynamic_cast<ReductionDomain *>(v.referent.get());
}

bool is_variable_of(const ReductionDomain &domain, Symbol name) {
    return std::any_of(domain.variables.begin(), domain.variables.end(),
                       [&](const ReductionVariable &v) { return v.var == name; });
}

// A definition while it is being checked.
class Candidate {
public:
    Candidate(FunctionContents &f, int stage, const Location &at) : f(f), stage(stage), at(at) {}

    [[noreturn]] void refuse(const std::string &why) const {
        throw CompileError(at, str("definition of ", stage_name(f, stage), ": ", why));
    }
    void require_values(const std::vector<Expr> &values) const;
    void require_one_condition(const std::vector<Expr> &values) const;
    void require_own_types(const std::vector<Expr> &values) const;
    void require_bound_variables(const Expr &e, const std::vector<Symbol> &pure,
                                 const ReductionDomain *domain) const;
    void require_no_self_calls(const Expr &e) const;
    void require_pure_self_calls(const Expr &e, const std::vector<Symbol> &pure) const;
    void require_no_scatter(const Expr &e, const char *where) const;
    void require_equal_counts(const std::vector<Expr> &args, const std::vector<Expr> &values) const;

    FunctionContents &f;
    int stage;
    Location at;
};

void Candidate::require_values(const std::vector<Expr> &values) const {
    if (values.empty()) refuse("it has no value");
    for (const Expr &v : values) {
        if (!v.defined()) refuse("a value is an undefined Expr; give the Expr a value first");
        if (v.type().is_vector()) refuse(str("a value is a vector (", v.type(), "), not a scalar"));
    }
    if (f.dialect == Dialect::Halide) require_one_condition(values);
}

// Halide stores all values of a Tuple, or none.
void Candidate::require_one_condition(const std::vector<Expr> &values) const {
    Expr first;
    for (const Expr &v : values) {
        const Expr condition = condition_of_choice(v);
        if (!condition.defined()) continue;
        if (!first.defined()) first = condition;
        if (ir::equal(first, condition)) continue;
        refuse(str("one of its values is undef unless ", first, ", another unless ", condition,
                   "; give all of them one condition, or write two definitions"));
    }
}

void Candidate::require_own_types(const std::vector<Expr> &values) const {
    if (values.size() != f.types.size()) {
        refuse(str("it has ", values.size(), " value", values.size() == 1 ? "" : "s", ", but ",
                   f.name, " has ", f.types.size()));
    }
    for (size_t i = 0; i < values.size(); i++) {
        if (values[i].type() == f.types[i]) continue;
        refuse(str("value ", i, " has the type ", values[i].type(), ", but ", f.name,
                   " was defined with ", f.types[i], "; use cast(", type_as_cpp(f.types[i]),
                   ", ...), or define it with ", values[i].type(), " in the first place"));
    }
}

void Candidate::require_bound_variables(const Expr &e, const std::vector<Symbol> &pure,
                                        const ReductionDomain *domain) const {
    ir::for_each_node(e, [&](const ir::Variable &v) {
        if (const ReductionDomain *d = domain_behind(v)) {
            if (d == domain) return;
            if (!domain) {
                refuse(str("it uses the reduction variable ", v.name, "; first define ", f.name,
                           " without it (its initial value), then reduce in an update"));
            }
            refuse(str("it uses the variable ", v.name, " of another reduction domain"));
        }
        if (v.referent || std::find(pure.begin(), pure.end(), v.name) != pure.end()) return;
        if (domain && is_variable_of(*domain, v.name)) return;
        bool let_bound = false;
        ir::for_each_node(e, [&](const ir::Let &let) { let_bound |= let.name == v.name; });
        if (let_bound) return;
        refuse(str("the variable ", v.name, " is bound by nothing; ",
                   stage == 0 ? str("the arguments of ", f.name, " are ", join(f.args))
                              : str("in an update, ", v.name, " would have to be an argument of ",
                                    f.name, " in the same place as in its first definition (",
                                    join(f.args), ")")));
    });
}

void Candidate::require_no_self_calls(const Expr &e) const {
    ir::for_each_node(e, [&](const ir::Call &c) {
        if (c.call_kind != CallKind::Func || c.callee != f.name) return;
        refuse(str("it uses ", f.name,
                   " itself, which has no values yet; define its first values without that, as in ",
                   f.name, "(", join(f.args),
                   ") = 0, and write this as an update, over an RDom if "
                   "it is a recursion"));
    });
}

void Candidate::require_pure_self_calls(const Expr &e, const std::vector<Symbol> &pure) const {
    ir::for_each_node(e, [&](const ir::Call &c) {
        if (c.call_kind != CallKind::Func || c.callee != f.name) return;
        for (size_t i = 0; i < pure.size(); i++) {
            if (!pure[i].defined()) continue;
            const auto *v = c.args[i].as<ir::Variable>();
            if (v && v->name == pure[i]) continue;
            refuse(str("on the left, argument ", i, " is the variable ", pure[i], ", so ", f.name,
                       " may be read only at ", pure[i], " in that place, not at ",
                       ir::brief(c.args[i]), "; use an RDom for a recursion over it"));
        }
    });
}

void Candidate::require_no_scatter(const Expr &e, const char *where) const {
    if (!e.defined()) return;
    ir::for_each_node(e, [&](const ir::IntrinsicCall &c) {
        if (c.op != ir::Intrinsic::scatter && c.op != ir::Intrinsic::gather) return;
        refuse(str("scatter and gather stand in the arguments and values of an update, not in ",
                   where));
    });
}

void Candidate::require_equal_counts(const std::vector<Expr> &args,
                                     const std::vector<Expr> &values) const {
    try {
        count_of_elements(args, values);
    } catch (const CompileError &e) {
        refuse(e.what());
    }
}

// Returns true if the condition of the domain keeps the family alive that is defined over it.
bool calls_family(const Expr &e, const FunctionRef &member) {
    bool found = false;
    if (!e.defined()) return found;
    ir::for_each_node(
        e, [&](const ir::Call &c) { found |= called_function(c).is_relative_of(member); });
    return found;
}

// Calls within the family do not keep it alive (a cycle would never be freed), nor do the variables
// of a domain whose condition has such calls; and calls of random() learn which point of which
// definition they are at.
class BindToDefinition final : public ir::Mutator {
public:
    BindToDefinition(const FunctionRef &self, std::vector<Expr> point,
                     const ReductionDomain *domain = nullptr)
        : self(self), point(std::move(point)),
          dropped(domain && calls_family(domain->predicate, self) ? domain : nullptr) {
        for (Expr &e : this->point) e = (*this)(e);
    }

private:
    Expr visit(const ir::Variable &v) override {
        bool drop = dropped && v.referent.get() == dropped;
        return drop ? ir::Variable::make(v.type, v.name) : Expr(&v);
    }
    Expr visit(const ir::Call &c) override {
        Expr e = Mutator::visit(c);
        const FunctionRef called = called_function(c);
        if (!called || !called.is_relative_of(self)) return e;
        const auto &call = *e.as<ir::Call>();
        return ir::Call::make(call.type, call.callee, call.call_kind, call.value_index, call.args);
    }
    Expr visit(const ir::IntrinsicCall &c) override {
        Expr e = Mutator::visit(c);
        if (c.op != ir::Intrinsic::random) return e;
        std::vector<Expr> args = e.as<ir::IntrinsicCall>()->args;
        args.push_back(Expr(definition));
        args.insert(args.end(), point.begin(), point.end());
        return ir::call(c.type, c.op, std::move(args));
    }
    const FunctionRef &self;
    std::vector<Expr> point;
    const ReductionDomain *dropped;
    int definition = random_definitions++;
};

std::vector<Expr> point_of(const std::vector<Symbol> &pure, const ReductionDomainRef &domain) {
    std::vector<Expr> point;
    for (Symbol s : pure) {
        if (s.defined()) point.push_back(ir::Variable::make(Int(32), s));
    }
    if (domain) {
        for (const ReductionVariable &v : domain->variables) {
            point.push_back(ir::Variable::make(Int(32), v.var, domain));
        }
    }
    return point;
}

void freeze_callees(const FunctionContents &f, const Expr &e) {
    ir::for_each_node(e, [&](const ir::Call &c) {
        if (const FunctionRef callee = called_function(c)) callee->frozen |= callee->name != f.name;
    });
}

void add_storage(FunctionContents &f) {
    for (Symbol arg : f.args) f.schedule.storage.emplace_back().var = arg;
}

void add_outputs(FunctionContents &f) {
    for (size_t i = 0; i < f.types.size(); i++) {
        std::string name = f.types.size() == 1 ? f.name.text() : str(f.name, ".", i);
        f.output_buffers.push_back(
            make_buffer_parameter(Symbol::fresh(name), f.types[i], f.dimensions()));
    }
    add_storage(f);
}

// Returns the variable of each dimension over all of which the stage runs, and no symbol for the
// others.
std::vector<Symbol> pure_args(const FunctionContents &f, const std::vector<Expr> &args) {
    std::vector<Symbol> pure(args.size());
    for (size_t i = 0; i < args.size(); i++) {
        const auto *v = args[i].as<ir::Variable>();
        if (v && !v->referent && v->name == f.args[i]) pure[i] = f.args[i];
    }
    return pure;
}

// Returns the stage with the loops that it has before any directive. One call of an extern function
// runs all of them.
DefinitionRef before_directives(const FunctionContents &f, const StageDefinition &definition) {
    auto d = make_ref<Definition>(definition);
    std::vector<Loop> &loops = d->schedule.loops;
    for (const ReductionVariable &v : d->reduction) {
        loops.push_back({v.var, LoopKind::Serial, true});
    }
    for (Symbol s : pure_args(f, d->args)) {
        if (s.defined()) loops.push_back({s});
    }
    for (Loop &l : loops) l.in_call = f.has_extern_definition();
    loops.push_back({outermost_loop()});
    return d;
}

void add_stage(FunctionContents &f, const Ref<const StageDefinition> &definition) {
    f.definitions.push_back(definition);
    f.stages.push_back(before_directives(f, *definition));
    f.version.note_change();
}

void require_distinct(const Candidate &candidate, const std::vector<Symbol> &args) {
    for (size_t i = 0; i < args.size(); i++) {
        if (std::find(args.begin(), args.begin() + int64_t(i), args[i]) !=
            args.begin() + int64_t(i)) {
            candidate.refuse(str("the argument ", args[i], " is there twice"));
        }
    }
}

void require_wanted(const Candidate &candidate, const FunctionContents &f,
                    const std::vector<Type> &types) {
    if (f.required_dimensions >= 0 && f.dimensions() != f.required_dimensions) {
        candidate.refuse(str(f.name, " was declared with ", f.required_dimensions,
                             " dimensions, but is defined with ", f.dimensions()));
    }
    if (!f.required_types.empty() && types != f.required_types) {
        candidate.refuse(str(f.name, " was declared with the type ", join(f.required_types),
                             ", but is defined with ", join(types)));
    }
}

void require_changeable(const Candidate &candidate, const FunctionContents &f) {
    if (!f.frozen) return;
    candidate.refuse(str(f.name,
                         " has been used by another Func or realized, so its definition can "
                         "no longer change; write all its definitions before its first use"));
}

}  // namespace

std::string stage_name(const FunctionContents &f, int stage) {
    return stage == 0 ? f.name.text() : str(f.name, ".update(", stage - 1, ")");
}

Symbol outermost_loop() {
    static const Symbol outermost = Symbol::interned("__outermost");
    return outermost;
}

FunctionRef make_function(Symbol name) {
    const auto f = make_ref<FunctionContents>();
    f->name = name;
    f->dialect = dialect();
    return FunctionRef(f);
}

void define_pure(const FunctionRef &function, const std::vector<Symbol> &args,
                 const std::vector<Expr> &values, const Location &at) {
    FunctionContents &f = *function;
    Candidate candidate(f, 0, at);
    if (f.defined()) throw InternalError(str(f.name, " has a pure definition"));
    candidate.require_values(values);
    require_distinct(candidate, args);
    std::vector<Symbol> no_args = f.args;
    f.args = args;
    try {
        std::vector<Type> types;
        for (const Expr &v : values) types.push_back(v.type());
        require_wanted(candidate, f, types);
        for (const Expr &v : values) {
            candidate.require_no_self_calls(v);
            candidate.require_no_scatter(v, "a first definition");
            candidate.require_bound_variables(v, args, nullptr);
        }
        f.types = types;
    } catch (...) {
        f.args = no_args;
        throw;
    }
    for (const Expr &v : values) freeze_callees(f, v);
    BindToDefinition bind(function, point_of(args, {}));
    auto d = make_ref<StageDefinition>();
    for (Symbol s : args) d->args.push_back(ir::Variable::make(Int(32), s));
    for (const Expr &v : values) d->values.push_back(bind(v));
    d->written = at;
    f.written = at;
    add_stage(f, d);
    add_outputs(f);
}

namespace {

// Coordinates are int32.
void make_coordinates(const Candidate &candidate, std::vector<Expr> &args) {
    for (size_t i = 0; i < args.size(); i++) {
        if (!args[i].defined()) candidate.refuse(str("argument ", i, " is an undefined Expr"));
        if (args[i].type() == Int(32)) continue;
        if (!args[i].type().is_int_or_uint() || args[i].type().is_vector()) {
            candidate.refuse(str("argument ", i, " has the type ", args[i].type(),
                                 "; coordinates are int32, so cast<int>(...) it"));
        }
        args[i] = ir::cast(Int(32), args[i]);
    }
    for (const Expr &arg : args) {
        ir::for_each_node(arg, [&](const ir::IntrinsicCall &c) {
            if (c.op != ir::Intrinsic::undef) return;
            candidate.refuse("undef is a value, and no coordinate");
        });
    }
}

}  // namespace

ReductionDomainRef domain_of(const std::vector<Expr> &exprs, const Location &at) {
    ReductionDomain *found = nullptr;
    for (const Expr &e : exprs) {
        if (!e.defined()) continue;
        ir::for_each_node(e, [&](const ir::Variable &v) {
            ReductionDomain *d = domain_behind(v);
            if (d && found && d != found) {
                throw CompileError(at, str("variables of two reduction domains, ",
                                           found->variables[0].var, " and ", v.name,
                                           ", in one definition; make one RDom of both"));
            }
            if (d) found = d;
        });
    }
    return ReductionDomainRef(found);
}

// Returns true if these values are all of f: nothing that was defined before is left of it.
static bool hides_what_was(const FunctionContents &f, const std::vector<Symbol> &pure,
                           const std::vector<Expr> &values) {
    bool hides = std::ranges::all_of(pure, &Symbol::defined);
    for (const Expr &v : values) {
        ir::for_each_node(v, [&](const ir::Call &c) { hides &= c.callee != f.name; });
        ir::for_each_node(
            v, [&](const ir::IntrinsicCall &c) { hides &= c.op != ir::Intrinsic::undef; });
    }
    return hides;
}

void define_update(const FunctionRef &function, std::vector<Expr> args, std::vector<Expr> values,
                   const Location &at, const ReductionDomainRef &over) {
    FunctionContents &f = *function;
    Candidate candidate(f, int(f.stages.size()), at);
    if (f.has_extern_definition()) {
        candidate.refuse(str(f.name, " is computed by an extern function and has no updates"));
    }
    require_changeable(candidate, f);
    candidate.require_values(values);
    if (args.size() != f.args.size()) {
        candidate.refuse(str("it has ", args.size(), " argument", args.size() == 1 ? "" : "s",
                             ", but ", f.name, " has ", f.args.size()));
    }
    make_coordinates(candidate, args);
    candidate.require_own_types(values);
    std::vector<Symbol> pure = pure_args(f, args);
    std::vector<Expr> all = args;
    all.insert(all.end(), values.begin(), values.end());
    ReductionDomainRef domain = domain_of(all, at);
    if (!domain) domain = over;
    if (domain && domain->predicate.defined()) all.push_back(domain->predicate);
    candidate.require_equal_counts(args, values);
    if (domain) candidate.require_no_scatter(domain->predicate, "the condition of a domain");
    for (const Expr &e : all) {
        candidate.require_bound_variables(e, pure, domain.get());
        candidate.require_pure_self_calls(e, pure);
    }
    if (f.dialect == Dialect::Halide && !domain && hides_what_was(f, pure, values)) {
        warn(at, str("this computes all of ", f.name,
                     " anew, so that its earlier definitions have no effect"));
    }
    for (const Expr &e : all) freeze_callees(f, e);
    BindToDefinition bind(function, point_of(pure, domain), domain.get());
    auto d = make_ref<StageDefinition>();
    for (const Expr &a : args) d->args.push_back(bind(a));
    for (const Expr &v : values) d->values.push_back(bind(v));
    if (domain) {
        domain->frozen = true;
        d->reduction = domain->variables;
        d->predicate = bind(domain->predicate);
    }
    d->written = at;
    add_stage(f, d);
}

void define_extern(FunctionContents &f, const std::vector<Symbol> &args,
                   const std::vector<Type> &types, ExternDefinition definition) {
    Candidate candidate(f, 0, definition.written);
    if (f.defined()) {
        candidate.refuse(str(f.name, " is defined already, so it cannot be an extern stage"));
    }
    if (types.empty()) candidate.refuse("an extern stage has at least one value");
    require_distinct(candidate, args);
    for (const ExternFuncArgument &arg : definition.args) {
        if (!arg.func && !arg.buffer && !arg.scalar.defined()) {
            candidate.refuse("an argument of the extern function is undefined");
        }
        if (arg.func) {
            if (!arg.func->defined()) candidate.refuse(str(arg.func->name, " is not defined"));
            arg.func->frozen = true;
        }
        if (arg.scalar.defined()) {
            require_parameters_only(arg.scalar, "define_extern", definition.written);
        }
    }
    f.args = args;
    require_wanted(candidate, f, types);
    f.types = types;
    auto d = make_ref<StageDefinition>();
    for (Symbol s : args) d->args.push_back(ir::Variable::make(Int(32), s));
    d->written = definition.written;
    f.written = definition.written;
    f.extern_definition = std::make_shared<ExternDefinition>(std::move(definition));
    add_stage(f, d);
    add_outputs(f);
}

void begin_schedule(FunctionContents &f) {
    f.schedule = {};
    add_storage(f);
    f.stages.clear();
    for (const auto &d : f.definitions) f.stages.push_back(before_directives(f, *d));
    f.version.note_change();
}

void reset_random_counters() {
    random_calls = 0;
    random_definitions = 0;
}

Expr random_call(Type type, const Expr &seed, const Location &at) {
    if (!seed.defined()) {
        // Odd numbers are no seeds of the user's: those are doubled below.
        return ir::call(type, ir::Intrinsic::random, {Expr(2 * random_calls++ + 1)});
    }
    if (seed.type() != Int(32)) {
        throw CompileError(at, str("the seed of a random number is an int32, not ", seed.type()));
    }
    if (dialect() == Dialect::Halide) {
        // Two calls are never the same number there, whatever their seeds.
        const uint32_t own = uint32_t(random_calls++) * 0x9E3779B1u;
        const Expr mixed = ir::Cast::make(UInt(32), seed) + ir::make_const(UInt(32), own);
        return ir::call(type, ir::Intrinsic::random,
                        {ir::Cast::make(Int(32), mixed * ir::make_const(UInt(32), 2))});
    }
    return ir::call(type, ir::Intrinsic::random, {seed * 2});
}

}  // namespace tessera::program
