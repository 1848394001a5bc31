#include "program/apply.h"
#include "base/warning.h"
#include "ir/equal.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/visitor_inl.h"
#include "program/apply_checks.h"
#include "program/associativity.h"
#include "program/define.h"
#include "program/loop_transforms.h"
#include "program/races.h"
#include <algorithm>
#include <atomic>

namespace tessera::program {
namespace {

using Loops = std::vector<Loop>;

class StageApplier {
public:
    // Changes `def`, which is the stage, or will be.
    StageApplier(const StageRef &stage, Definition &def, const Location &at)
        : stage(stage), def(def), schedule(def.schedule), at(at) {}

    void operator()(const Split &split);
    void operator()(const Fuse &fuse);
    void operator()(const Rename &rename);
    void operator()(const Reorder &reorder);
    void operator()(const SetLoopKind &set);
    void operator()(const Tensorize &tensorize);
    void operator()(const SetPartition &set);
    void operator()(const PrefetchDirective &prefetch);
    void operator()(const AtomicDirective &atomic);
    void operator()(const AllowRaceConditions &) { schedule.allow_race_conditions = true; }
    void operator()(const SpecializeDirective &) {}
    void operator()(const SpecializeFail &fail);
    void operator()(const StreamLoads &stream);
    void operator()(const StreamStores &) {
        if (stage.function->dialect == Dialect::Halide) require_stored_once();
        schedule.stream_stores = true;
    }
    void operator()(const GroupBlocks &d);
    void operator()(const PersistentBlocks &d) {
        schedule.blocks_per_processor = count(d.blocks, "persistent");
    }
    void operator()(const ResidentBlocks &d) {
        schedule.resident_blocks = count(d.blocks, "gpu_resident_blocks");
    }
    void operator()(const WarpSpecialize &d);
    void operator()(const PingPong &);
    void operator()(const Unscheduled &) {
        if (schedule.touched) refuse("unscheduled", str("stage ", stage.name, " has a schedule"));
    }
    void operator()(const Rfactor &) {}
    void operator()(const CopyInput &) {}

private:
    int count(const Expr &e, const char *directive) const {
        const auto value = as_const_int(e);
        const bool has_blocks = std::ranges::any_of(
            schedule.loops, [](const Loop &l) { return l.kind == LoopKind::GPUBlock; });
        if (!value || *value < 1 || *value > 1 << 20)
            refuse(directive, "the number has to be a positive constant");
        if (!has_blocks)
            refuse(directive,
                   str("stage ", stage.name, " has no loop over blocks; mark one before"));
        return int(*value);
    }
    [[noreturn]] void refuse(const char *directive, const std::string &why) const {
        throw CompileError(at, str(directive, ": ", why));
    }
    Loops::iterator loop(const char *directive, const Symbol &var) {
        const Loop &found = require_loop(schedule, stage.name, directive, var, at);
        return schedule.loops.begin() + (&found - schedule.loops.data());
    }
    // A loop of this name may be there only if it is one of those that are replaced.
    template<typename... Replaced>
    void require_new(const char *directive, const Symbol &name, const Replaced &...replaced) const {
        if (!name.defined()) refuse(directive, "the new loop has no name");
        if (!((name == replaced) || ...)) require_unused(directive, name);
    }
    void require_unused(const char *directive, const Symbol &name) const;
    bool was_used(const Symbol &name) const;
    enum class Tiles { None, Divided, DividedExactly };
    Tiles tiles_around(const Split &split) const;
    TailStrategy resolve_tail(const Split &split, const Loop &old) const;
    void require_tail(const Split &split, const Loop &old) const;
    void require_no_predicate(const Split &split) const;
    bool may_reorder_reduction(const Loops &before, const Loops &after) const;
    void require_order_kept(const char *directive, const Loops &before, const Loops &after) const;
    void require_no_race(const char *directive, const Loop &loop, LoopKind kind) const;
    void require_no_blend(const Split &split) const;
    void require_stored_once() const;
    void require_callable(const char *directive, LoopKind kind) const;

    const StageRef &stage;
    Definition &def;
    StageSchedule &schedule;
    Location at;
};

void StageApplier::require_unused(const char *directive, const Symbol &name) const {
    if (find_loop(schedule, name)) {
        refuse(directive, str("stage ", stage.name, " already has a loop named ", name,
                              "; give the new loop another name"));
    }
    if (was_used(name)) {
        refuse(directive, str("stage ", stage.name, " had a loop named ", name,
                              " before; give the new loop another name"));
    }
}

bool StageApplier::was_used(const Symbol &name) const {
    for (const Symbol &arg : stage.function->args) {
        if (arg == name) return true;
    }
    for (const ReductionVariable &v : def.reduction) {
        if (v.var == name) return true;
    }
    return std::ranges::any_of(schedule.transforms, [&](const auto &t) {
        return std::ranges::count(loops_made(t.directive), name) > 0;
    });
}

// Chooses a tail that the user leaves open: never compute what is not required in an update or
// reduction, and else shift the last iteration inwards, so that no buffer has to be larger. Under
// an outer split that has rounded up or shifted by a multiple of the factor, nothing is left over.
TailStrategy StageApplier::resolve_tail(const Split &split, const Loop &old) const {
    if (split.tail != TailStrategy::Auto) return split.tail;
    if (old.is_reduction) return TailStrategy::GuardWithIf;
    if (tiles_around(split) == Tiles::DividedExactly) return TailStrategy::RoundUp;
    return stage.stage > 0 ? TailStrategy::GuardWithIf : TailStrategy::ShiftInwards;
}

// Finds how the split loop lies within the tiles of an earlier split: if its iterations ran on,
// those of the inner loop there would, too, into the next tile.
StageApplier::Tiles StageApplier::tiles_around(const Split &split) const {
    const size_t count = schedule.transforms.size();
    bool is_inner_loop = true;  // and not a part of it
    for (const Maker &earlier : makers_of(schedule, split.old, count)) {
        if (earlier.model->tiles_of(earlier.loop)) {
            const std::vector<LoopFacts> facts{facts_of_loop(schedule, split.old, count)};
            const bool divides = is_inner_loop && model_of(split)->is_exact(facts);
            return divides ? Tiles::DividedExactly : Tiles::Divided;
        }
        is_inner_loop &= earlier.model->made().size() == earlier.model->taken().size();
    }
    return Tiles::None;
}

void StageApplier::require_tail(const Split &split, const Loop &old) const {
    TailStrategy tail = split.tail;
    const bool overcomputes = tail != TailStrategy::Auto && !traits_of(tail).leaves_out;
    if (old.is_reduction && overcomputes) {
        refuse("split", str("TailStrategy::", name_of(tail), " would run iterations of ", split.old,
                            ", a reduction variable, that are outside of its domain or run twice; "
                            "use GuardWithIf, Predicate or Auto"));
    }
    if (stage.stage > 0 && tail == TailStrategy::ShiftInwards) {
        refuse("split", str("TailStrategy::ShiftInwards computes some points of ", stage.name,
                            " twice, which changes the result of an update; use GuardWithIf, "
                            "RoundUp or ShiftInwardsAndBlend"));
    }
    const Tiles tiles = tiles_around(split);
    bool may_round_up =
        stage.function->dialect == Dialect::Halide ? tiles == Tiles::None : tiles != Tiles::Divided;
    if (stage.stage > 0 && tail == TailStrategy::RoundUp && !may_round_up) {
        refuse("split", str("TailStrategy::RoundUp of ", split.old,
                            " would run on into the next "
                            "tile of an earlier split and compute points of ",
                            stage.name,
                            " twice, which changes the result of an update; use GuardWithIf, or "
                            "a factor that divides the earlier one"));
    }
}

// In Halide, what is split with predicated loads or stores is split for good.
void StageApplier::require_no_predicate(const Split &split) const {
    if (stage.function->dialect != Dialect::Halide) return;
    for (const auto &t : schedule.transforms) {
        const auto *earlier = std::get_if<Split>(&t.directive);
        if (!earlier || earlier->inner != split.old) continue;
        if (earlier->tail != TailStrategy::PredicateLoads &&
            earlier->tail != TailStrategy::PredicateStores) {
            continue;
        }
        refuse("split", str(split.old, " is the inner loop of a split with TailStrategy::",
                            name_of(earlier->tail),
                            ", which cannot be split again; use "
                            "GuardWithIf or Predicate there"));
    }
}

void StageApplier::operator()(const Split &written) {
    auto old = loop("split", written.old);
    Split split = written;
    require_factor(split.factor, "split", at);
    if (split.outer == split.inner) {
        refuse("split", str("the outer and the inner loop have one name, ", split.outer));
    }
    require_new("split", split.outer, split.old);
    require_new("split", split.inner, split.old);
    split.factor = to_int32(split.factor, "split: the factor", at);
    require_tail(split, *old);
    require_no_predicate(split);
    require_no_blend(split);
    split.tail = resolve_tail(split, *old);
    Loop inner = *old;
    inner.var = split.inner;
    old->var = split.outer;
    old->in_call = false;
    schedule.loops.insert(old, std::move(inner));
    schedule.transforms.push_back({std::move(split), at});
}

void StageApplier::operator()(const Fuse &fuse) {
    auto inner = loop("fuse", fuse.inner), outer = loop("fuse", fuse.outer);
    if (inner == outer) refuse("fuse", str("the loop ", fuse.inner, " with itself"));
    require_new("fuse", fuse.fused, fuse.inner, fuse.outer);
    // Side by side, inner inside of outer: this is the order in which the fused loop runs.
    Loops adjacent = schedule.loops;
    const Loop moved = *outer;
    adjacent.erase(adjacent.begin() + (outer - schedule.loops.begin()));
    auto place = std::ranges::find(adjacent, fuse.inner, &Loop::var);
    adjacent.insert(place + 1, moved);
    require_order_kept("fuse", schedule.loops, adjacent);
    Loop fused = *inner;
    fused.var = fuse.fused;
    fused.is_reduction = inner->is_reduction || outer->is_reduction;
    fused.in_call = inner->in_call && outer->in_call;
    if (outer->partition != Partition::Auto) fused.partition = outer->partition;
    *inner = fused;
    schedule.loops.erase(outer);
    schedule.transforms.push_back({fuse, at});
    require_no_race("fuse", fused, fused.kind);
}

void StageApplier::operator()(const Rename &rename) {
    auto old = loop("rename", rename.old);
    if (rename.old == rename.new_name) return;
    require_new("rename", rename.new_name);
    old->var = rename.new_name;
    schedule.transforms.push_back({rename, at});
}

bool StageApplier::may_reorder_reduction(const Loops &before, const Loops &after) const {
    // Iterations of a loop that is free of races have nothing to do with one another.
    const auto order_in = [&](const Loops &loops) {
        std::vector<Symbol> order;
        for (const Loop &l : loops) {
            if (!l.is_reduction || is_free_of_races(*stage.function, def, l.var)) continue;
            order.push_back(l.var);
        }
        return order;
    };
    if (order_in(before) == order_in(after)) return true;
    if (stores_one_value(*stage.function, def)) return true;
    auto proven = prove_associativity(*stage.function, def);
    return proven && proven->commutative;
}

void StageApplier::require_order_kept(const char *directive, const Loops &before,
                                      const Loops &after) const {
    std::vector<Symbol> old_order, new_order;
    for (const Loop &l : before) {
        if (l.is_reduction) old_order.push_back(l.var);
    }
    for (const Loop &l : after) {
        if (l.is_reduction) new_order.push_back(l.var);
    }
    if (old_order == new_order || may_reorder_reduction(before, after)) return;
    refuse(directive, str("the reduction loops of ", stage.name, " would run in the order ",
                          join(new_order), " instead of ", join(old_order),
                          " (innermost first), which may change its result: it is not known to be "
                          "associative and commutative"));
}

void StageApplier::operator()(const Reorder &reorder) {
    std::vector<size_t> places;
    Loops moved;
    for (Symbol v : reorder.vars) {
        auto found = loop("reorder", v);
        size_t place = size_t(found - schedule.loops.begin());
        if (std::find(places.begin(), places.end(), place) != places.end()) {
            refuse("reorder", str("the loop ", v, " is there twice"));
        }
        if (v == outermost_loop()) {
            refuse("reorder", "Var::outermost() is outside of all loops and stays there");
        }
        places.push_back(place);
        moved.push_back(*found);
    }
    std::sort(places.begin(), places.end());
    Loops after = schedule.loops;
    for (size_t i = 0; i < places.size(); i++) after[places[i]] = moved[i];
    require_order_kept("reorder", schedule.loops, after);
    schedule.loops = after;
}

void StageApplier::require_no_race(const char *directive, const Loop &loop, LoopKind kind) const {
    if (traits_of(kind).is_in_order || !loop.is_reduction || schedule.allow_race_conditions) return;
    if (is_free_of_races(*stage.function, def, loop.var)) return;
    if (!schedule.atomic) {
        refuse(directive,
               str("iterations of the reduction loop ", loop.var, " of ", stage.name,
                   " may write an element that others read or write; call atomic() first, if the "
                   "update is associative, or rfactor(), or allow_race_conditions()"));
    }
    if (!traits_of(kind).is_on_threads || schedule.override_associativity_test) return;
    if (stores_one_value(*stage.function, def)) return;
    auto update = prove_associativity(*stage.function, def);
    if (update && update->commutative) return;
    refuse(directive, str("the update ", stage.name,
                          " is not known to be commutative: which value it ends with depends on "
                          "the order of the iterations of ",
                          loop.var, "; if that is meant, say atomic(true)"));
}

// Halide's rules refuse this because what is stored again and again has to stay in the caches.
void StageApplier::require_stored_once() const {
    for (const ReductionVariable &r : def.reduction) {
        const bool moves = std::ranges::any_of(
            def.args, [&](const Expr &arg) { return ir::uses_symbol(arg, r.var); });
        if (moves) continue;
        refuse("stream_stores",
               str("the update ", stage.name, " stores an element in each iteration of ", r.var,
                   ", so that it has to stay in the caches; let another Func copy the results, and "
                   "stream its stores"));
    }
}

// An extern function cannot keep what was written before.
void StageApplier::require_no_blend(const Split &split) const {
    if (!traits_of(split.tail).blends || !stage.function->extern_definition) return;
    refuse("split",
           str("TailStrategy::", name_of(split.tail), " keeps values where ", split.old,
               " ends, but the extern function ", stage.function->extern_definition->function,
               " writes all that it is called for; use GuardWithIf or ShiftInwards"));
}

// Refuses lanes for an extern stage: a loop can only be around its calls.
void StageApplier::require_callable(const char *directive, LoopKind kind) const {
    if (!traits_of(kind).is_in_lanes || !stage.function->extern_definition) return;
    refuse(directive, str(stage.name, " is computed by the extern function ",
                          stage.function->extern_definition->function,
                          ", which is called once for each iteration, and not for a vector of "
                          "them; its loops may be serial, parallel or unrolled"));
}

void StageApplier::operator()(const SetLoopKind &set) {
    const std::string name = directive_name(set);
    const char *directive = name.c_str();
    auto found = loop(directive, set.var);
    require_callable(directive, set.kind);
    require_no_race(directive, *found, set.kind);
    if (!traits_of(set.kind).is_in_order && set.var == outermost_loop()) {
        refuse(directive, "Var::outermost() has one iteration");
    }
    found->kind = set.kind;
    found->in_call = false;
}

void StageApplier::operator()(const Tensorize &tensorize) {
    (*this)(SetLoopKind{tensorize.var, LoopKind::Tensorized});
    loop("tensorize", tensorize.var)->instruction = tensorize.instruction;
}

void StageApplier::operator()(const SetPartition &set) {
    loop("partition", set.var)->partition = set.partition;
}

void StageApplier::operator()(const PrefetchDirective &prefetch) {
    auto is_there = [&](Symbol var) {
        return std::ranges::any_of(schedule.loops, [&](const Loop &l) { return l.var == var; });
    };
    if (stage.function->dialect == Dialect::Halide && !is_there(prefetch.at)) {
        return warn(at, str("prefetch of ", stage.name, " has no effect: it has no such loop"));
    }
    auto inside = loop("prefetch", prefetch.at), from = loop("prefetch", prefetch.from);
    if (from < inside) {
        refuse("prefetch", str("the loop ", prefetch.from, " is inside of ", prefetch.at,
                               ", where the prefetch is to be; `from` is the same loop or one "
                               "around it"));
    }
    PrefetchDirective p = prefetch;
    if (!p.offset.defined() || p.offset.type() != Int(32)) {
        refuse("prefetch", "the offset is an int32 expression");
    }
    require_parameters_only(p.offset, "prefetch", at);
    schedule.prefetches.push_back({p, at});
}

void StageApplier::operator()(const AtomicDirective &atomic) {
    if (stage.stage == 0) {
        if (stage.function->dialect == Dialect::Halide) {
            return warn(at, str("atomic has no effect: ", stage.name, " is a pure definition"));
        }
        refuse("atomic", str(stage.name, " is a pure definition, which has no races; atomic() is "
                                         "for updates"));
    }
    if (!atomic.override_associativity_test && !prove_associativity(*stage.function, def) &&
        !stores_one_value(*stage.function, def)) {
        refuse("atomic", str("the update ", stage.name,
                             " is not known to be associative; if it "
                             "is, say atomic(true)"));
    }
    schedule.atomic = true;
    schedule.override_associativity_test |= atomic.override_associativity_test;
}

void StageApplier::operator()(const SpecializeFail &fail) {
    def.specializations.push_back({ir::const_true(), {}, fail.message, at});
}

void StageApplier::operator()(const WarpSpecialize &d) {
    constexpr int warp = 32, warpgroup = 128, step = 8, fewest = 24, most = 240;
    const char *directive = "warp_specialize";
    const auto of_producer = as_const_int(d.producer_registers),
               of_consumer = as_const_int(d.consumer_registers);
    const auto is_count = [](const std::optional<int64_t> &n) {
        return n && *n >= fewest && *n <= most && *n % step == 0;
    };
    const bool none = of_producer == 0 && of_consumer == 0;
    if (!none && !(is_count(of_producer) && is_count(of_consumer) && of_producer <= of_consumer))
        refuse(directive, str("the threads of a warpgroup have ", fewest, " to ", most,
                              " registers, a multiple of ", step,
                              ", and consumers no fewer than producers; here they are ",
                              d.producer_registers, " and ", d.consumer_registers,
                              "; warp_specialize(40, 232) is usual for two warpgroups of "
                              "consumers, and warp_specialize() leaves them as they are"));
    count(1, directive);  // refuses a stage without blocks
    schedule.roles = {none ? warp : warpgroup, int(*of_producer), int(*of_consumer), false, at};
}

void StageApplier::operator()(const PingPong &) {
    if (!schedule.roles.any() || schedule.blocks_per_processor == 0)
        refuse("ping_pong", str("consumers take the tiles of one block in turns, and stage ",
                                stage.name, " has ",
                                schedule.roles.any() ? "a block for each tile; say persistent()"
                                                     : "no roles; say warp_specialize()",
                                " before"));
    schedule.roles.ping_pong = true;
}

void StageApplier::operator()(const GroupBlocks &d) {
    schedule.is_along_hilbert_curve = !d.rows.defined();
    schedule.block_group = count(d.rows.defined() ? d.rows : Expr(1), "gpu_order");
    if (schedule.is_along_hilbert_curve) schedule.block_group = 0;
}

void StageApplier::operator()(const StreamLoads &stream) {
    if (stream.what.empty()) schedule.stream_all_loads = true;
    schedule.stream_loads.insert(schedule.stream_loads.end(), stream.what.begin(),
                                 stream.what.end());
}

void require_no_fail(const StageRef &stage, const char *directive, const Location &at) {
    const auto &all = stage.definition().specializations;
    if (all.empty() || all.back().definition) return;
    throw CompileError(at, str(directive, ": after specialize_fail no further specialization of ",
                               stage.name, " can be reached"));
}

}  // namespace

StageRef stage_of(const FunctionRef &f, int stage) {
    if (stage < 0 || size_t(stage) >= f->stages.size())
        throw InternalError(str(f->name, " has no stage ", stage));
    return {f, stage, stage_name(*f, stage), {}};
}

Definition &StageRef::definition() const {
    Definition *d = function->stages.at(size_t(stage)).get();
    for (size_t i : path) d = d->specializations.at(i).definition.get();
    return *d;
}

const Loop *find_loop(const StageSchedule &schedule, const Symbol &var) {
    for (const Loop &l : schedule.loops) {
        if (l.var == var) return &l;
    }
    return nullptr;
}

const Loop &require_loop(const StageSchedule &schedule, const std::string &stage_name,
                         const char *directive, const Symbol &var, const Location &at) {
    if (const Loop *found = find_loop(schedule, var)) return *found;
    std::vector<std::string> names;
    for (const Loop &l : schedule.loops) {
        if (l.var != outermost_loop()) names.push_back(l.var.text());
    }
    // A variable that its user gave no name was not misspelt.
    std::string likely = var.is_interned() ? closest_match(var.text(), names) : "";
    std::string loops = names.empty() ? "it has no loops" : str("its loops are ", join(names));
    if (likely == var.text()) {
        loops += str(" (that ", likely, " is another variable of the same name)");
    } else if (!likely.empty()) {
        loops += str(" (did you mean ", likely, "?)");
    }
    throw CompileError(
        at, str(directive, ": no loop named ", var, " in stage ", stage_name, "; ", loops));
}

namespace {

// Returns true if the directive is about the loads or stores of a definition. An extern stage has
// none that are known, but for the points that each call computes.
bool is_about_the_definition(const StageDirective &d) {
    return std::holds_alternative<PrefetchDirective>(d) || std::holds_alternative<StreamLoads>(d) ||
           std::holds_alternative<StreamStores>(d);
}

void require_definition(const StageRef &stage, const StageDirective &directive,
                        const Location &at) {
    if (!stage.function->extern_definition || !is_about_the_definition(directive)) return;
    throw CompileError(at, str(directive_name(directive), ": ", stage.name,
                               " is computed by the extern function ",
                               stage.function->extern_definition->function,
                               ", whose loads and stores the compiler does not know"));
}

}  // namespace

// A definition that is never run needs no schedule.
static void require_effect(const StageRef &stage, const Location &at) {
    const auto &all = stage.definition().specializations;
    if (all.empty() || all.back().definition) return;
    const std::string what = str(
        "a directive of ", stage.name,
        " after specialize_fail has no effect: only its specializations run. Say it before "
        "specialize(), which begins with what has been said till then, or of what that returns");
    if (stage.function->dialect != Dialect::Halide) throw CompileError(at, what);
    warn(at, what);
}

uint64_t next_order() {
    static std::atomic<uint64_t> given{0};
    return ++given;
}

void apply(const StageRef &stage, const StageDirective &directive, const Location &at) {
    apply(stage, std::vector<StageDirective>{directive}, at);
}

void apply(const StageRef &stage, const std::vector<StageDirective> &directives,
           const Location &at) {
    const DefinitionRef after = stage.definition().shallow_copy();
    for (const StageDirective &directive : directives) {
        require_definition(stage, directive, at);
        if (std::holds_alternative<SpecializeFail>(directive)) {
            require_no_fail(stage, "specialize_fail", at);
        } else {
            require_effect(stage, at);
        }
        std::visit(StageApplier(stage, *after, at), directive);
        after->schedule.directives.push_back({directive, at, next_order()});
        after->schedule.touched = true;
    }
    stage.definition().schedule = std::move(after->schedule);
    stage.definition().specializations = std::move(after->specializations);
    stage.function->version.note_change();
}

StageRef specialize(const StageRef &stage, const Expr &condition, const Location &at) {
    require_parameters_only(condition, "specialize", at);
    if (!condition.type().is_bool() || condition.type().is_vector()) {
        throw CompileError(at, str("specialize: the condition is a ", condition.type(),
                                   ", not a bool; compare it with something"));
    }
    auto &all = stage.definition().specializations;
    StageRef special = stage;
    special.name = str(stage.name, ".specialize(", ir::brief(condition, 60), ")");
    const auto found = std::ranges::find_if(all, [&](const Specialization &s) {
        return s.definition && ir::equal(s.condition, condition);
    });
    special.path.push_back(size_t(found - all.begin()));
    if (found != all.end()) return special;
    require_no_fail(stage, "specialize", at);
    DefinitionRef copy = stage.definition().copy();
    copy->specializations.clear();
    copy->schedule.directives.clear();
    all.push_back({condition, copy, "", {}});
    apply(stage, SpecializeDirective{condition}, at);
    return special;
}

}  // namespace tessera::program
