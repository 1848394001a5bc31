#include "lang/stage.h"
#include "ir/printer.h"
#include "lang/func.h"
#include "lang/image_param.h"
#include "program/apply_checks.h"
#include "program/copy_input.h"
#include "program/define.h"
#include "program/loop_transforms.h"
#include "program/rfactor.h"
#include <set>

namespace tessera {

Fetched::Fetched(const Func &f) : name(f.function()->name) {}
Fetched::Fetched(const ImageParam &image, Location at) : name(image.parameter(at)->name) {}
Fetched::Fetched(const BufferContentsRef &buffer, Location at) {
    if (!buffer) throw CompileError(at, "a Buffer that is undefined is named");
    name = buffer->symbol();
}

namespace detail {
namespace {

void require_kinds(const char *directive, const VarOrRVar &from, const VarOrRVar &made,
                   Location at) {
    if (from.is_rvar == made.is_rvar) return;
    if (!from.is_rvar) {
        throw CompileError(
            at, str(directive, ": ", made.symbol, " is an RVar, but it is made from ", from.symbol,
                    ", which is none; declare it as Var ", made.symbol, "(\"", made.symbol, "\")"));
    }
    throw CompileError(at, str(directive, ": ", made.symbol, " is a Var, but it is made from ",
                               from.symbol, ", a reduction variable; declare it as RVar ",
                               made.symbol, "(\"", made.symbol, "\")"));
}

// Refuses, in the name of the directive, what its split would refuse in its own name.
void require_split_operands(const char *directive, const StageRef &s, const VarOrRVar &old,
                            const Expr &factor, Location at) {
    program::require_loop(s.definition().schedule, s.name, directive, old.symbol, at);
    program::require_factor(factor, directive, at);
}

void require_no_loop_twice(const char *directive, const std::vector<VarOrRVar> &loops,
                           Location at) {
    std::set<Symbol> seen;
    for (const VarOrRVar &v : loops) {
        if (seen.insert(v.symbol).second) continue;
        throw CompileError(at, str(directive, ": the loop ", v.symbol, " is there twice"));
    }
}

// An inner loop that the user gives no name: x_i, or x_i2 where there is or was a loop x_i.
VarOrRVar unnamed_inner(const StageRef &s, const VarOrRVar &v) {
    std::set<std::string> taken;
    const program::StageSchedule &schedule = s.definition().schedule;
    for (const program::Loop &loop : schedule.loops) taken.insert(loop.var.text());
    for (const auto &t : schedule.transforms) {
        std::visit(program::overloaded{
                       [&](const program::Split &split) {
                           taken.insert(split.outer.text());
                           taken.insert(split.inner.text());
                       },
                       [&](const program::Fuse &fuse) { taken.insert(fuse.fused.text()); },
                       [&](const program::Rename &r) { taken.insert(r.new_name.text()); },
                   },
                   t.directive);
    }
    std::string name = v.symbol.text() + "_i";
    for (int n = 2; taken.count(name); n++) name = str(v.symbol, "_i", n);
    if (v.is_rvar) return RVar(Symbol::fresh(name));
    return Var(Symbol::fresh(name));
}

}  // namespace

StageDirective split(const VarOrRVar &old, const VarOrRVar &outer, const VarOrRVar &inner,
                     const Expr &factor, TailStrategy tail, Location at) {
    require_kinds("split", old, outer, at);
    require_kinds("split", old, inner, at);
    return program::Split{old.symbol, outer.symbol, inner.symbol, factor, tail};
}

void fuse(const StageRef &s, const VarOrRVar &inner, const VarOrRVar &outer, const VarOrRVar &fused,
          Location at) {
    require_kinds("fuse", inner.is_rvar ? inner : outer, fused, at);
    program::apply(s, program::Fuse{inner.symbol, outer.symbol, fused.symbol}, at);
}

void rename(const StageRef &s, const VarOrRVar &old, const VarOrRVar &name, Location at) {
    require_kinds("rename", old, name, at);
    program::apply(s, program::Rename{old.symbol, name.symbol}, at);
}

void reorder(const StageRef &s, const std::vector<VarOrRVar> &vars, Location at) {
    program::Reorder reorder;
    for (const VarOrRVar &v : vars) reorder.vars.push_back(v.symbol);
    program::apply(s, reorder, at);
}

void set_kind(const StageRef &s, const VarOrRVar &v, LoopKind kind, Location at) {
    program::apply(s, program::SetLoopKind{v.symbol, kind}, at);
}

void split_and_set_kind(const StageRef &s, const VarOrRVar &v, const Expr &factor,
                        TailStrategy tail, LoopKind kind, Location at) {
    const std::string directive = program::directive_name(program::SetLoopKind{v.symbol, kind});
    require_split_operands(directive.c_str(), s, v, factor, at);
    const VarOrRVar inner = unnamed_inner(s, v);
    const VarOrRVar &changed = kind == LoopKind::Parallel ? v : inner;
    program::apply(
        s, {split(v, v, inner, factor, tail, at), program::SetLoopKind{changed.symbol, kind}}, at);
}

std::vector<StageDirective> tile(const StageRef &s, const std::vector<VarOrRVar> &previous,
                                 const std::vector<VarOrRVar> &outers,
                                 const std::vector<VarOrRVar> &inners,
                                 const std::vector<Expr> &factors,
                                 const std::vector<TailStrategy> &tails, Location at) {
    size_t n = previous.size();
    if (n == 0 || outers.size() != n || inners.size() != n || factors.size() != n ||
        tails.size() != n) {
        throw CompileError(at, str("tile: ", n, " loops, ", outers.size(), " outer, ",
                                   inners.size(), " inner, ", factors.size(), " factors, ",
                                   tails.size(), " tail strategies; give one of each per loop"));
    }
    for (size_t i = 0; i < n; i++) require_split_operands("tile", s, previous[i], factors[i], at);
    std::vector<VarOrRVar> order = inners;
    order.insert(order.end(), outers.begin(), outers.end());
    require_no_loop_twice("tile", previous, at);
    require_no_loop_twice("tile", order, at);
    std::vector<StageDirective> directives;
    for (size_t i = 0; i < n; i++) {
        directives.push_back(split(previous[i], outers[i], inners[i], factors[i], tails[i], at));
    }
    program::Reorder reorder;
    for (const VarOrRVar &v : order) reorder.vars.push_back(v.symbol);
    directives.push_back(reorder);
    return directives;
}

void partition(const StageRef &s, const std::vector<VarOrRVar> &vars, Partition p, Location at) {
    std::vector<StageDirective> directives;
    for (const VarOrRVar &v : vars) directives.push_back(program::SetPartition{v.symbol, p});
    program::apply(s, directives, at);
}

void partition_all(const StageRef &s, Partition p, Location at) {
    std::vector<StageDirective> directives;
    for (const program::Loop &l : s.definition().schedule.loops) {
        if (l.var == program::outermost_loop()) continue;
        directives.push_back(program::SetPartition{l.var, p});
    }
    program::apply(s, directives, at);
}

void prefetch(const StageRef &s, const Fetched &what, const VarOrRVar &at_loop,
              const VarOrRVar &from, const Expr &offset, PrefetchBoundStrategy strategy,
              Location at) {
    program::apply(
        s, program::PrefetchDirective{what.name, at_loop.symbol, from.symbol, offset, strategy},
        at);
}

void stream_loads(const StageRef &s, const std::vector<Fetched> &what, Location at) {
    program::StreamLoads d;
    for (const Fetched &f : what) d.what.push_back(f.name);
    program::apply(s, d, at);
}

}  // namespace detail

std::vector<VarOrRVar> Stage::split_vars() const {
    std::vector<VarOrRVar> result;
    for (const program::Loop &l : schedule().loops) {
        if (l.var == program::outermost_loop()) continue;
        result.push_back(l.is_reduction ? VarOrRVar(RVar(l.var)) : VarOrRVar(Var(l.var)));
    }
    return result;
}

std::string Stage::dump_argument_list() const {
    std::vector<std::string> names;
    for (const VarOrRVar &v : split_vars()) names.push_back(v.name());
    return str("Vars: ", join(names), "\n");
}

Func Stage::rfactor(const std::vector<std::pair<RVar, Var>> &preserved, Location at) {
    std::vector<program::Preserved> pairs;
    for (const auto &[r, v] : preserved) pairs.push_back({r.symbol(), v.symbol()});
    return Func(program::rfactor(ref, pairs, at));
}

Func Stage::rfactor(const RVar &r, const Var &v, Location at) { return rfactor({{r, v}}, at); }

Func Stage::split_k(const RVar &r, const Var &part, const Expr &parts, Location at) {
    const auto count = ir::as_const_int(parts);
    if (!count || *count < 1)
        throw CompileError(
            at, str("split_k: the number of parts is a positive constant, and not ", parts));
    const RVar of(Symbol::fresh(part.name()));
    const program::StageSchedule &schedule = ref.definition().schedule;
    program::require_loop(schedule, ref.name, "split_k", r.symbol(), at);
    const program::LoopFacts facts =
        program::facts_of_loop(schedule, r.symbol(), schedule.transforms.size());
    if (facts.is_constant && facts.multiple > 0 && facts.multiple % *count == 0) {
        const Expr piece = int32_t(facts.multiple / *count);
        program::apply(ref, detail::split(r, of, r, piece, TailStrategy::Auto, at), at);
    } else {
        program::apply(ref, detail::split(r, r, of, parts, TailStrategy::Auto, at), at);
    }
    Func made = rfactor(of, part, at);
    // Each part is computed as a whole.
    const program::StageRef sums = program::stage_of(made.function(), 1);
    std::vector<Symbol> loops;
    for (const program::Loop &l : sums.definition().schedule.loops)
        if (l.var != part.symbol() && l.var != program::outermost_loop()) loops.push_back(l.var);
    loops.push_back(part.symbol());
    program::apply(sums, program::Reorder{loops}, at);
    return made;
}

Func Stage::copy_input(const Fetched &buffer, Location at) {
    return Func(program::copy_input(ref, buffer.name, at));
}

void Stage::unscheduled(Location at) { program::apply(ref, program::Unscheduled{}, at); }

}  // namespace tessera
