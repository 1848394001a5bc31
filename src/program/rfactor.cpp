#include "program/rfactor.h"
#include "algebra/simplify.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/visitor_inl.h"
#include "program/associativity.h"
#include "program/define.h"
#include "program/loop_transforms.h"
#include <algorithm>
#include <map>

namespace tessera::program {
namespace {

// The loops of an update as they are after its splits and fuses: the range of each, how the
// variables of the domain follow from them, and where that leaves the domain.
struct LoopRanges {
    std::map<Symbol, ReductionVariable> loops;
    ir::Substitution values;  // of variables that are no loops any more
    std::vector<Expr> guards;

    explicit LoopRanges(const Definition &d);
    void apply(const TransformModel &transform);
    void express(const TransformModel &transform, const std::vector<Interval> &taken);
};

Expr variable(Symbol s) { return ir::Variable::make(Int(32), s); }

LoopRanges::LoopRanges(const Definition &d) {
    for (const ReductionVariable &v : d.reduction) loops[v.var] = v;
    for (const auto &t : d.schedule.transforms) apply(*model_of(t.directive));
}

void LoopRanges::apply(const TransformModel &transform) {
    std::vector<Interval> taken;
    for (Symbol loop : transform.taken()) {
        auto found = loops.find(loop);
        if (found == loops.end()) return;
        const ReductionVariable &r = found->second;
        taken.push_back({r.min, algebra::simplify(r.min + r.extent - 1)});
    }
    for (Symbol loop : transform.taken()) loops.erase(loop);
    express(transform, taken);
    const std::vector<Symbol> made = transform.made();
    const std::vector<Interval> ranges = transform.ranges_made(taken, false);
    for (size_t i = 0; i < made.size(); i++) {
        const auto &[min, max] = ranges[i];
        loops[made[i]] = {made[i], min, algebra::simplify(max - min + 1)};
    }
}

// All that was found so far in terms of the loops that are made.
void LoopRanges::express(const TransformModel &transform, const std::vector<Interval> &taken) {
    const std::vector<Symbol> names = transform.taken();
    std::vector<Expr> made;
    for (Symbol loop : transform.made()) made.push_back(variable(loop));
    const bool exact = transform.is_exact(taken);
    ir::Substitution found;
    for (size_t i = 0; i < names.size(); i++) {
        found[names[i]] = algebra::simplify(transform.value_taken(i, taken, made, exact));
    }
    for (auto &[other, v] : values) v = ir::substitute(found, v);
    for (Expr &g : guards) g = ir::substitute(found, g);
    for (size_t i = 0; i < names.size(); i++) {
        Expr value = found[names[i]];
        const Expr last = exact ? Expr() : transform.last_let_through(taken[i]);
        if (last.defined()) {
            guards.push_back(ir::likely(algebra::simplify(value <= last)));
            // The points that are read are then within the domain, too.
            value = ir::call(Int(32), ir::Intrinsic::promise_clamped, {value, taken[i].min, last});
        }
        values.emplace(names[i], value);
    }
}

class Factoring {
public:
    Factoring(const StageRef &stage, const std::vector<Preserved> &preserved, const Location &at)
        : stage(stage), f(*stage.function), d(stage.definition()), preserved(preserved), at(at),
          ranges(check()) {}
    FunctionRef run(const FunctionRef &into);

private:
    [[noreturn]] void refuse(const std::string &why) const {
        throw CompileError(at, str("rfactor: ", why));
    }
    const Definition &check() const;
    void check_preserved() const;
    std::string reduction_loops() const;
    void check_fused() const;
    bool is_preserved(Symbol loop) const {
        return std::any_of(preserved.begin(), preserved.end(),
                           [&](const Preserved &p) { return p.rvar == loop; });
    }
    AssociativeUpdate prove() const;
    bool changes_order() const;
    ReductionDomainRef make_domain(bool of_preserved) const;
    // Rewrites what is in terms of the loops, with those of `domain`, and the preserved ones as
    // `kept`. A loop may have the name of a variable of the domain that it is a part of.
    static Expr of_loops(const Expr &e, const ReductionDomainRef &domain,
                         const ir::Substitution &kept);
    // The same for what is in terms of the variables of the domain.
    Expr translate(const Expr &e, const ReductionDomainRef &domain,
                   const ir::Substitution &kept) const;
    Expr predicate_of_preserved(const ReductionDomainRef &domain) const;
    void define_intermediate(const FunctionRef &intermediate,
                             const AssociativeUpdate &update) const;
    void merge(const FunctionRef &intermediate, const AssociativeUpdate &update);
    void schedule_intermediate(Definition &update) const;
    void schedule_merge(const std::vector<Symbol> &pure);

    const StageRef &stage;
    FunctionContents &f;
    Definition &d;
    const std::vector<Preserved> &preserved;
    Location at;
    LoopRanges ranges;
};

const Definition &Factoring::check() const {
    if (stage.stage == 0)
        refuse(str(stage.name, " is no update, and only updates reduce; take one of them, as in ",
                   f.name, ".update(0).rfactor(...)"));
    if (!d.specializations.empty()) {
        refuse(str(stage.name, " has specializations; say rfactor before specialize"));
    }
    if (preserved.empty())
        refuse(str("no reduction variable is given; name one, and a Var for it, as in ", stage.name,
                   ".rfactor(r.x, u)"));
    check_preserved();
    check_fused();
    return d;
}

// "those are r$x, r$y", for messages.
std::string Factoring::reduction_loops() const {
    std::vector<Symbol> names;
    for (const Loop &l : d.schedule.loops) {
        if (l.is_reduction) names.push_back(l.var);
    }
    return names.empty() ? "it has none" : str("it has ", join(names));
}

void Factoring::check_preserved() const {
    std::vector<Symbol> seen = f.args;
    for (const Preserved &p : preserved) {
        const Loop &loop = require_loop(d.schedule, stage.name, "rfactor", p.rvar, at);
        if (!loop.is_reduction)
            refuse(str(p.rvar, " is no reduction loop of ", stage.name, "; ", reduction_loops()));
        for (Symbol name : {p.var, p.rvar}) {
            if (std::find(seen.begin(), seen.end(), name) != seen.end()) {
                refuse(str(name, " is there twice, or is an argument of ", f.name,
                           " already; take another Var"));
            }
            seen.push_back(name);
        }
    }
}

// Neither of the two Funcs that are to be made has a loop that is partly a reduction.
void Factoring::check_fused() const {
    for (const Loop &loop : d.schedule.loops) {
        if (!loop.is_reduction) continue;
        for (Symbol root : roots_of_loop(d.schedule, loop.var)) {
            bool of_domain = std::any_of(d.reduction.begin(), d.reduction.end(),
                                         [&](const ReductionVariable &v) { return v.var == root; });
            if (of_domain) continue;
            refuse(str(loop.var, " is made from a reduction and a pure loop, ", root,
                       "; say rfactor before fuse"));
        }
    }
}

// Returns true if the joined results are taken in another order than before: unless the preserved
// loops are the outermost ones of the reduction.
bool Factoring::changes_order() const {
    bool inside = false;
    for (const Loop &l : d.schedule.loops) {
        if (!l.is_reduction) continue;
        if (is_preserved(l.var)) {
            inside = true;
        } else if (inside) {
            return true;
        }
    }
    return false;
}

AssociativeUpdate Factoring::prove() const {
    auto update = prove_associativity(f, d);
    if (!update || !update->has_identities()) {
        refuse(str("the update ", stage.name,
                   " is not known to be associative with an identity, so it cannot be computed in "
                   "parts; sums, products, minima and maxima are, and so are several of them. If "
                   "it is, although that is not seen, atomic(true) allows parallel() or "
                   "vectorize() of its reduction loops"));
    }
    if (!update->commutative && changes_order()) {
        refuse(str("the update ", stage.name,
                   " is not known to be commutative, and other reduction loops are outside of the "
                   "given ones, so that its values would be joined in another order; reorder() "
                   "the given ones outwards"));
    }
    return *update;
}

ReductionDomainRef Factoring::make_domain(bool of_preserved) const {
    auto domain = make_ref<ReductionDomain>();
    for (const Loop &l : d.schedule.loops) {
        auto found = ranges.loops.find(l.var);
        if (found == ranges.loops.end() || is_preserved(l.var) != of_preserved) continue;
        domain->variables.push_back(found->second);
    }
    return domain->variables.empty() ? ReductionDomainRef() : domain;
}

Expr Factoring::of_loops(const Expr &e, const ReductionDomainRef &domain,
                         const ir::Substitution &kept) {
    ir::Substitution loops = kept;
    if (domain) {
        for (const ReductionVariable &v : domain->variables) {
            loops[v.var] = ir::Variable::make(Int(32), v.var, domain);
        }
    }
    return ir::substitute(loops, e);
}

Expr Factoring::translate(const Expr &e, const ReductionDomainRef &domain,
                          const ir::Substitution &kept) const {
    return e.defined() ? of_loops(ir::substitute(ranges.values, e), domain, kept) : e;
}

void Factoring::define_intermediate(const FunctionRef &intermediate,
                                    const AssociativeUpdate &update) const {
    intermediate->dialect = f.dialect;
    std::vector<Symbol> args = f.args;
    ir::Substitution kept;
    for (const Preserved &p : preserved) {
        args.push_back(p.var);
        kept[p.rvar] = variable(p.var);
    }
    define_pure(intermediate, args, update.identities, at);
    ReductionDomainRef domain = make_domain(false);
    Expr predicate = translate(d.predicate, domain, kept);
    for (const Expr &g : ranges.guards) {
        Expr guard = of_loops(g, domain, kept);
        predicate = predicate.defined() ? predicate && guard : guard;
    }
    std::vector<Expr> place, values;
    for (const Expr &a : d.args) place.push_back(translate(a, domain, kept));
    for (const Preserved &p : preserved) place.push_back(variable(p.var));
    ir::Substitution operands;
    for (size_t i = 0; i < update.operators.size(); i++) {
        operands[update.xs[i]] = call(intermediate, place, int(i));
        operands[update.ys[i]] = translate(update.new_values[i], domain, kept);
    }
    for (const Expr &op : update.operators) values.push_back(ir::substitute(operands, op));
    define_update(intermediate, place, values, at);
    Definition &u = *intermediate->stages[1];
    u.predicate = predicate;
    if (domain) u.reduction = domain->variables;
    intermediate->definitions[1] = make_ref<Definition>(static_cast<const StageDefinition &>(u));
    schedule_intermediate(u);
}

void Factoring::schedule_intermediate(Definition &update) const {
    StageSchedule &s = update.schedule;
    std::vector<Loop> pure = s.loops;
    std::erase_if(pure, [](const Loop &l) { return l.is_reduction; });
    s.loops.clear();
    for (const Loop &l : d.schedule.loops) {
        if (!ranges.loops.count(l.var)) continue;
        if (!is_preserved(l.var)) {
            s.loops.push_back(l);
            continue;
        }
        for (const Preserved &p : preserved) {
            auto u = std::find_if(pure.begin(), pure.end(),
                                  [&](const Loop &o) { return o.var == p.var; });
            if (p.rvar != l.var || u == pure.end()) continue;
            s.loops.push_back(*u);
            pure.erase(u);
        }
    }
    s.loops.insert(s.loops.end(), pure.begin(), pure.end());
    s.atomic = d.schedule.atomic;
    s.override_associativity_test = d.schedule.override_associativity_test;
    s.allow_race_conditions = d.schedule.allow_race_conditions;
}

// Returns what the predicate asks of the preserved loops alone: no others are written.
Expr Factoring::predicate_of_preserved(const ReductionDomainRef &domain) const {
    std::vector<Expr> todo, kept;
    if (d.predicate.defined()) todo.push_back(d.predicate);
    while (!todo.empty()) {
        Expr e = todo.back();
        todo.pop_back();
        if (const auto *both = e.as<ir::And>()) {
            todo.push_back(both->b);
            todo.push_back(both->a);
            continue;
        }
        Expr condition = translate(e, domain, {});
        bool uses_others = false;
        ir::for_each_node(condition, [&](const ir::Variable &v) {
            uses_others |= ranges.loops.count(v.name) && !is_preserved(v.name);
        });
        if (!uses_others) kept.push_back(condition);
    }
    Expr all;
    for (const Expr &condition : kept) all = all.defined() ? all && condition : condition;
    return all;
}

void Factoring::merge(const FunctionRef &intermediate, const AssociativeUpdate &update) {
    ReductionDomainRef domain = make_domain(true);
    std::vector<Expr> place;
    std::vector<Symbol> pure(f.args.size());
    for (size_t i = 0; i < d.args.size(); i++) {
        Expr a = translate(d.args[i], domain, {});
        bool uses_others = false;
        ir::for_each_node(a, [&](const ir::Variable &v) {
            uses_others |= ranges.loops.count(v.name) && !is_preserved(v.name);
        });
        if (uses_others) a = variable(f.args[i]);
        const auto *v = a.as<ir::Variable>();
        if (v && v->name == f.args[i]) pure[i] = f.args[i];
        place.push_back(a);
    }
    std::vector<Expr> partial = place;
    for (const Preserved &p : preserved) {
        partial.push_back(ir::Variable::make(Int(32), p.rvar, domain));
    }
    ir::Substitution operands;
    for (size_t i = 0; i < update.operators.size(); i++) {
        operands[update.xs[i]] = ir::Call::make(f.types[i], f.name, CallKind::Func, int(i), place);
        operands[update.ys[i]] = call_of_relative(*intermediate, partial, int(i));
    }
    intermediate->frozen = true;
    d.args = place;
    d.values.clear();
    for (const Expr &op : update.operators) d.values.push_back(ir::substitute(operands, op));
    d.reduction = domain->variables;
    domain->frozen = true;
    d.predicate = predicate_of_preserved(domain);
    schedule_merge(pure);
}

void Factoring::schedule_merge(const std::vector<Symbol> &pure) {
    StageSchedule &s = d.schedule;
    const StageSchedule before = s;
    std::erase_if(s.transforms, [&](const Written<LoopTransform> &t) {
        auto roots = roots_of_loop(before, loops_made(t.directive).back());
        return std::none_of(roots.begin(), roots.end(), [&](Symbol root) {
            return std::find(f.args.begin(), f.args.end(), root) != f.args.end();
        });
    });
    std::erase_if(s.loops,
                  [&](const Loop &l) { return ranges.loops.count(l.var) && !is_preserved(l.var); });
    Loop outermost = s.loops.back();
    s.loops.pop_back();
    for (Symbol v : pure) {
        bool covered = !v.defined();
        for (const Loop &l : s.loops) {
            auto roots = roots_of_loop(s, l.var);
            covered |= std::find(roots.begin(), roots.end(), v) != roots.end();
        }
        if (!covered) s.loops.push_back({v, LoopKind::Serial, false, Partition::Auto});
    }
    s.loops.push_back(outermost);
}

FunctionRef Factoring::run(const FunctionRef &into) {
    AssociativeUpdate update = prove();
    const FunctionRef intermediate =
        into ? into : stage.function.make_relative(Symbol::fresh(str(f.name, "_intm")));
    define_intermediate(intermediate, update);
    merge(intermediate, update);
    d.schedule.directives.push_back({Rfactor{preserved, intermediate->name}, at, next_order()});
    d.schedule.touched = true;
    f.version.note_change();
    return intermediate;
}

}  // namespace

FunctionRef rfactor(const StageRef &stage, const std::vector<Preserved> &preserved,
                    const Location &at, const FunctionRef &into) {
    return Factoring(stage, preserved, at).run(into);
}

}  // namespace tessera::program
