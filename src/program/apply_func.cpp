#include "ir/operators.h"
#include "program/apply.h"
#include "program/apply_checks.h"
#include "program/define.h"
#include <algorithm>

namespace tessera::program {
namespace {

class FuncApplier {
public:
    FuncApplier(FunctionContents &f, const Location &at) : f(f), schedule(f.schedule), at(at) {}

    void operator()(const ComputeLevel &d);
    void operator()(const StoreLevel &d);
    void operator()(const HoistStorageLevel &d);
    void operator()(const BoundDirective &d);
    void operator()(const EstimateDirective &d);
    void operator()(const FoldStorage &d);
    void operator()(const RingBuffer &d);
    void operator()(const AsyncDirective &) { schedule.async = true; }
    void operator()(const ReorderStorage &d);
    void operator()(const AlignStorage &d);
    void operator()(const BoundStorage &d);
    void operator()(const StoreIn &d) { schedule.memory = d.memory; }
    void operator()(const Trace &d);
    void operator()(const NoProfiling &) { schedule.no_profiling = true; }
    void operator()(const CopyToDevice &) { copy_to(CopySide::Device, "copy_to_device"); }
    void operator()(const CopyToHost &) { copy_to(CopySide::Host, "copy_to_host"); }

private:
    [[noreturn]] void refuse(const char *directive, const std::string &why) const {
        throw CompileError(at, str(directive, ": ", why));
    }
    void copy_to(CopySide side, const char *directive);
    template<typename Directive>
    void set_level(const Directive &d, const char *name);
    StorageDimension &dimension(const char *directive, const Symbol &var);
    void require_argument(const char *directive, const Symbol &var) const;
    Expr region_expr(const char *directive, const Expr &e) const;

    FunctionContents &f;
    FuncSchedule &schedule;
    Location at;
};

void FuncApplier::require_argument(const char *directive, const Symbol &var) const {
    if (std::find(f.args.begin(), f.args.end(), var) != f.args.end()) return;
    std::vector<std::string> names;
    for (Symbol s : f.args) names.push_back(s.text());
    std::string likely = var.is_interned() ? closest_match(var.text(), names) : "";
    refuse(directive,
           str(var, " is no dimension of ", f.name, "; ",
               names.empty() ? "it has none" : str("its dimensions are ", join(names)),
               likely.empty() || likely == var.text() ? "" : str(" (did you mean ", likely, "?)")));
}

StorageDimension &FuncApplier::dimension(const char *directive, const Symbol &var) {
    require_argument(directive, var);
    return *std::find_if(schedule.storage.begin(), schedule.storage.end(),
                         [&](const StorageDimension &d) { return d.var == var; });
}

Expr FuncApplier::region_expr(const char *directive, const Expr &e) const {
    if (!e.defined()) return e;
    require_parameters_only(e, directive, at);
    if (!e.type().is_int_or_uint() || e.type().is_vector()) {
        refuse(directive, str("an integer is wanted, not a ", e.type()));
    }
    return to_int32(e, str(directive, ": the number"), at);
}

void require_enclosing(const LoopLevel &level, const FunctionContents &f, const char *directive,
                       const Location &at) {
    if (!level.is_at() || level.func() != f.name) return;
    throw CompileError(at, str(directive, ": ", f.name, " inside of its own loop ", level.var(),
                               "; name a loop of a Func that uses it"));
}

// Applies a directive to the levels of a schedule. Storage is where values are computed, and
// allocated where it is, unless something else is said.
class SetLevels {
public:
    SetLevels(FuncSchedule &schedule, const Location &at) : schedule(schedule), at(at) {}

    void operator()(const ComputeLevel &d) {
        schedule.compute_level = d.level;
        schedule.compute_written = at;
        if (!schedule.store_level_set) schedule.store_level = d.level;
        if (!schedule.hoist_level_set) schedule.hoist_level = schedule.store_level;
    }
    void operator()(const StoreLevel &d) {
        schedule.store_level = d.level;
        schedule.store_written = at;
        schedule.store_level_set = true;
        if (!schedule.hoist_level_set) schedule.hoist_level = d.level;
    }
    void operator()(const HoistStorageLevel &d) {
        schedule.hoist_level = d.level;
        schedule.hoist_written = at;
        schedule.hoist_level_set = true;
    }
    template<typename Other>
    void operator()(const Other &) {}

private:
    FuncSchedule &schedule;
    Location at;
};

template<typename Directive>
void FuncApplier::set_level(const Directive &d, const char *name) {
    require_enclosing(d.level, f, name, at);
    SetLevels(schedule, at)(d);
}

void FuncApplier::operator()(const ComputeLevel &d) { set_level(d, "compute_at"); }
void FuncApplier::operator()(const StoreLevel &d) { set_level(d, "store_at"); }
void FuncApplier::operator()(const HoistStorageLevel &d) { set_level(d, "hoist_storage"); }

void FuncApplier::operator()(const BoundDirective &written) {
    const std::string name = directive_name(written);
    const char *directive = name.c_str();
    require_argument(directive, written.var);
    BoundDirective d = written;
    const auto whole = d.modulus.defined() ? ir::as_const_int(d.modulus) : std::nullopt;
    if (whole && *whole <= 0) refuse(directive, str("the modulus ", *whole, " is not positive"));
    for (Expr *e : {&d.min, &d.extent, &d.modulus}) *e = region_expr(directive, *e);
    // Before it is cut to 32 bits.
    if (whole && d.remainder.defined()) {
        region_expr(directive, d.remainder);
        Type t = d.remainder.type();
        if (t.bits() > 32 || t == UInt(32)) d.remainder = d.remainder % ir::cast(t, d.modulus);
    }
    d.remainder = region_expr(directive, d.remainder);
    auto extent = d.extent.defined() ? ir::as_const_int(d.extent) : std::nullopt;
    if (extent && *extent < 0) refuse(directive, str("the extent ", *extent, " is negative"));
    if (whole && d.remainder.defined()) d.remainder = d.remainder % d.modulus;
    schedule.bounds.push_back({d, at});
}

void FuncApplier::operator()(const EstimateDirective &written) {
    require_argument("set_estimate", written.var);
    EstimateDirective d = written;
    d.min = region_expr("set_estimate", d.min);
    d.extent = region_expr("set_estimate", d.extent);
    const auto extent = d.extent.defined() ? ir::as_const_int(d.extent) : std::nullopt;
    if (extent && *extent <= 0) {
        refuse("set_estimate", str("the extent ", *extent, " of the dimension ", d.var, " of ",
                                   f.name, " is not positive; nothing would be computed"));
    }
    std::erase_if(schedule.estimates, [&](const EstimateDirective &e) { return e.var == d.var; });
    schedule.estimates.push_back(d);
}

void FuncApplier::operator()(const FoldStorage &d) {
    StorageDimension &dim = dimension("fold_storage", d.var);
    require_factor(d.extent, "fold_storage", at);
    dim.fold_factor = to_int32(d.extent, "fold_storage: the factor", at);
    dim.fold_forward = d.fold_forward;
    dim.fold_written = at;
}

void FuncApplier::operator()(const RingBuffer &d) {
    require_factor(d.extent, "ring_buffer", at);
    schedule.ring_buffer = to_int32(d.extent, "ring_buffer: the number", at);
    schedule.ring_buffer_written = at;
}

void FuncApplier::operator()(const ReorderStorage &d) {
    if (f.dialect == Dialect::Halide && d.vars.size() < 2) {
        refuse("reorder_storage", "an order is that of two dimensions or more");
    }
    std::vector<size_t> places;
    std::vector<StorageDimension> moved;
    for (Symbol v : d.vars) {
        StorageDimension &dim = dimension("reorder_storage", v);
        size_t place = size_t(&dim - schedule.storage.data());
        if (std::find(places.begin(), places.end(), place) != places.end()) {
            refuse("reorder_storage", str("the dimension ", v, " is there twice"));
        }
        places.push_back(place);
        moved.push_back(dim);
    }
    std::sort(places.begin(), places.end());
    for (size_t i = 0; i < places.size(); i++) schedule.storage[places[i]] = moved[i];
}

void FuncApplier::operator()(const AlignStorage &d) {
    StorageDimension &dim = dimension("align_storage", d.var);
    require_factor(d.alignment, "align_storage", at);
    dim.alignment = to_int32(d.alignment, "align_storage: the alignment", at);
    dim.alignment_written = at;
}

void FuncApplier::operator()(const BoundStorage &d) {
    StorageDimension &dim = dimension("bound_storage", d.var);
    require_factor(d.extent, "bound_storage", at);
    dim.bound = to_int32(d.extent, "bound_storage: the extent", at);
    dim.bound_written = at;
}

void FuncApplier::operator()(const Trace &d) {
    schedule.trace.loads |= d.loads;
    schedule.trace.stores |= d.stores;
    schedule.trace.realizations |= d.realizations;
    if (d.tag.empty()) return;
    if (!schedule.trace.tag.empty()) schedule.trace.tag += " ";
    schedule.trace.tag += d.tag;
}

void FuncApplier::copy_to(CopySide side, const char *directive) {
    require_copied_call(f, directive, at);
    schedule.copy = side;
    schedule.copy_written = at;
}

}  // namespace

void apply(FunctionContents &f, const FuncDirective &directive, const Location &at,
           const Ref<LateLevel> &late) {
    if (!f.defined()) {
        throw CompileError(at, str(directive_name(directive), ": ", f.name,
                                   " is not defined yet; define a Func before you schedule it"));
    }
    std::visit(FuncApplier(f, at), directive);
    auto &all = f.schedule.directives;
    if (late) f.schedule.late_levels.push_back({all.size(), late});
    if (all.empty()) all.reserve(4);  // where there is one, others follow
    all.push_back({directive, at, next_order()});
    f.version.note_change();
}

FuncSchedule with_levels_of_now(FuncSchedule s) {
    if (s.late_levels.empty()) return s;
    for (const FuncSchedule::Late &late : s.late_levels) {
        std::visit(
            [&](auto &d) {
                if constexpr (requires { d.level; }) d.level = late.level->level;
            },
            s.directives[late.directive].directive);
    }
    s.late_levels.clear();
    s.compute_level = s.store_level = s.hoist_level = LoopLevel::inlined();
    s.store_level_set = s.hoist_level_set = false;
    for (const auto &w : s.directives) std::visit(SetLevels(s, w.at), w.directive);
    return s;
}

std::string directive_name(const FuncDirective &directive) {
    return std::visit(overloaded{
                          [](const ComputeLevel &d) -> std::string {
                              return d.level.means_root()      ? "compute_root"
                                     : d.level.means_inlined() ? "compute_inline"
                                                               : "compute_at";
                          },
                          [](const StoreLevel &d) -> std::string {
                              return d.level.means_root() ? "store_root" : "store_at";
                          },
                          [](const HoistStorageLevel &d) -> std::string {
                              return d.level.means_root() ? "hoist_storage_root" : "hoist_storage";
                          },
                          [](const BoundDirective &d) -> std::string {
                              return !d.modulus.defined()
                                         ? (d.min.defined() ? "bound" : "bound_extent")
                                     : d.remainder.defined() ? "align_bounds"
                                                             : "align_extent";
                          },
                          [](const EstimateDirective &) -> std::string { return "set_estimate"; },
                          [](const FoldStorage &) -> std::string { return "fold_storage"; },
                          [](const RingBuffer &) -> std::string { return "ring_buffer"; },
                          [](const AsyncDirective &) -> std::string { return "async"; },
                          [](const ReorderStorage &) -> std::string { return "reorder_storage"; },
                          [](const AlignStorage &) -> std::string { return "align_storage"; },
                          [](const BoundStorage &) -> std::string { return "bound_storage"; },
                          [](const StoreIn &) -> std::string { return "store_in"; },
                          [](const Trace &d) -> std::string {
                              return d.loads          ? "trace_loads"
                                     : d.stores       ? "trace_stores"
                                     : d.realizations ? "trace_realizations"
                                                      : "add_trace_tag";
                          },
                          [](const NoProfiling &) -> std::string { return "no_profiling"; },
                          [](const CopyToDevice &) -> std::string { return "copy_to_device"; },
                          [](const CopyToHost &) -> std::string { return "copy_to_host"; },
                      },
                      directive);
}

std::string directive_name(const StageDirective &directive) {
    return std::visit(
        overloaded{
            [](const Split &) -> std::string { return "split"; },
            [](const Fuse &) -> std::string { return "fuse"; },
            [](const Rename &) -> std::string { return "rename"; },
            [](const Reorder &) -> std::string { return "reorder"; },
            [](const SetLoopKind &d) -> std::string {
                return std::string(traits_of(d.kind).directive);
            },
            [](const Tensorize &) -> std::string { return "tensorize"; },
            [](const SetPartition &) -> std::string { return "partition"; },
            [](const PrefetchDirective &) -> std::string { return "prefetch"; },
            [](const AtomicDirective &) -> std::string { return "atomic"; },
            [](const AllowRaceConditions &) -> std::string { return "allow_race_conditions"; },
            [](const SpecializeDirective &) -> std::string { return "specialize"; },
            [](const SpecializeFail &) -> std::string { return "specialize_fail"; },
            [](const StreamLoads &) -> std::string { return "stream_loads"; },
            [](const StreamStores &) -> std::string { return "stream_stores"; },
            [](const GroupBlocks &) -> std::string { return "gpu_order"; },
            [](const PersistentBlocks &) -> std::string { return "persistent"; },
            [](const ResidentBlocks &) -> std::string { return "gpu_resident_blocks"; },
            [](const WarpSpecialize &) -> std::string { return "warp_specialize"; },
            [](const PingPong &) -> std::string { return "ping_pong"; },
            [](const Unscheduled &) -> std::string { return "unscheduled"; },
            [](const Rfactor &) -> std::string { return "rfactor"; },
            [](const CopyInput &) -> std::string { return "copy_input"; },
        },
        directive);
}

Symbol made_by(const StageDirective &directive) {
    if (const auto *r = std::get_if<Rfactor>(&directive)) return r->intermediate;
    const auto *copy = std::get_if<CopyInput>(&directive);
    return copy ? copy->made : Symbol();
}

}  // namespace tessera::program
