#include "lower/nest/facts.h"
#include "ir/operators.h"
#include "lower/nest/insertion_points.h"
#include "lower/nest/scans.h"
#include "lower/storage/production_path.h"
#include "lower/traced_access.h"
#include "program/loop_transforms.h"
#include <algorithm>

namespace tessera::lower {

using namespace ir;
using program::FunctionContents;
using program::StageSchedule;

namespace {

// Returns the line where the loop got its kind: its own, or that of the loop that the first `count`
// transforms made it from.
Location kind_written(const StageSchedule &s, Symbol var, LoopKind kind, size_t count) {
    Location found;
    for (const auto &d : s.directives) {
        const auto *set = std::get_if<program::SetLoopKind>(&d.directive);
        if (set && set->var == var && set->kind == kind) found = d.at;
        const auto *tensorize = std::get_if<program::Tensorize>(&d.directive);
        if (tensorize && tensorize->var == var && kind == LoopKind::Tensorized) found = d.at;
    }
    for (size_t i = std::min(count, s.transforms.size()); i-- > 0 && !found.known();) {
        for (Symbol old : program::made_from(s.transforms[i].directive, var)) {
            if (!found.known()) found = kind_written(s, old, kind, i);
        }
    }
    return found;
}

Location kind_written(const program::Definition &d, Symbol var, LoopKind kind) {
    Location found = kind_written(d.schedule, var, kind, d.schedule.transforms.size());
    for (const program::Specialization &s : d.specializations) {
        if (!found.known() && s.definition) found = kind_written(*s.definition, var, kind);
    }
    return found;
}

Location kind_written(const StageNest &nest, const StageNest::Loop &loop) {
    if (loop.kind == LoopKind::Serial) return {};
    const program::Definition &general = *nest.func.stages[size_t(nest.stage)];
    const Location found = kind_written(general, loop.var, loop.kind);
    return found.known() ? found : general.written;
}

void add_buffers(Symbol name, std::vector<Symbol> &all, const ProgramContext &context) {
    auto found = context.buffers.find(name);
    const std::vector<Symbol> buffers =
        found == context.buffers.end() ? std::vector<Symbol>{name} : found->second;
    for (Symbol b : buffers) {
        if (std::ranges::find(all, b) == all.end()) all.push_back(b);
    }
}

bool is_usual(const std::vector<StoredDimension> &order) {
    for (size_t i = 0; i < order.size(); i++) {
        const StoredDimension &s = order[i];
        if (s.dim != int(i) || s.alignment.defined() || s.bound.defined()) return false;
    }
    return true;
}

// None where it is the usual one.
std::vector<StoredDimension> storage_order(const FunctionContents &f) {
    std::vector<StoredDimension> order;
    for (const program::StorageDimension &s : f.schedule.storage) {
        auto arg = std::ranges::find(f.args, s.var);
        if (arg == f.args.end()) {
            throw InternalError(str("storage dimension ", s.var, " is no argument of ", f.name));
        }
        const auto as_int = [](const Expr &e) { return e.defined() ? cast(Int(32), e) : e; };
        order.push_back({int(arg - f.args.begin()), as_int(s.alignment),
                         s.bound.defined() ? s.var : Symbol(), as_int(s.bound), s.bound_written});
    }
    return is_usual(order) ? std::vector<StoredDimension>() : order;
}

Location async_written(const program::FuncSchedule &s) {
    Location at;
    for (const auto &d : s.directives) {
        if (std::holds_alternative<program::AsyncDirective>(d.directive)) at = d.at;
    }
    return at;
}

}  // namespace

LoopOrigin origin_of(const StageNest &nest, const StageNest::Loop &loop) {
    const std::vector<program::Loop> &loops = nest.definition.schedule.loops;
    auto scheduled = std::ranges::find(loops, loop.var, &program::Loop::var);
    const bool is_reduction = scheduled == loops.end() || scheduled->is_reduction;
    LoopOrigin origin;
    origin.func = nest.func.name;
    origin.var = loop.var;
    origin.stage = nest.stage;
    origin.is_reduction = is_reduction;
    origin.kind_written = kind_written(nest, loop);
    if (loop.kind == LoopKind::Tensorized && scheduled != loops.end())
        origin.instruction = Symbol::interned(scheduled->instruction);
    if (loop.kind != LoopKind::GPUBlock && loop.kind != LoopKind::GPUCluster) return origin;
    origin.is_along_hilbert_curve = nest.definition.schedule.is_along_hilbert_curve;
    origin.block_group = nest.definition.schedule.block_group;
    origin.blocks_per_processor = nest.definition.schedule.blocks_per_processor;
    origin.resident_blocks = nest.definition.schedule.resident_blocks;
    origin.roles = nest.definition.schedule.roles;
    return origin;
}

Streams streams_of(const StageNest &nest, const Streams &around, const ProgramContext &context) {
    const StageSchedule &schedule = nest.definition.schedule;
    const bool is_inline =
        !context.is_output(nest.func.name) && nest.func.schedule.compute_level.means_inlined();
    Streams s = is_inline ? around : Streams();
    s.all_loads |= schedule.stream_all_loads;
    for (Symbol name : schedule.stream_loads) add_buffers(name, s.loads, context);
    if (schedule.stream_stores) add_buffers(nest.func.name, s.stores, context);
    return s;
}

Produced produced_of(const FunctionContents &f, const StageRegion &last,
                     const ProgramContext &context) {
    Produced p;
    p.in_stages = f.stages.size() > 1;
    p.is_profiled = !f.schedule.no_profiling;
    if (f.has_extern_definition()) p.extern_function = f.extern_definition->function;
    if (context.is_output(f.name) || !is_stored_outside(f)) return p;
    for (int d = 0; d < f.dimensions(); d++) {
        const std::optional<int64_t> multiple = granularity(f, d);
        const bool is_known = multiple && *multiple <= INT32_MAX;
        p.ranges.push_back({last.min[size_t(d)], last.max[size_t(d)],
                            is_known ? int(*multiple) : ProducedRange::unknown,
                            !is_pure_in_all_stages(f, d) && !scan_along(f, d)});
    }
    return p;
}

bool asks_for_fold(const FunctionContents &f) {
    return std::ranges::any_of(f.schedule.storage,
                               [](const auto &s) { return s.fold_factor.defined(); });
}

StorageFacts storage_facts(const FunctionContents &f, const ProgramContext &context) {
    StorageFacts facts;
    facts.order = storage_order(f);
    for (int d = 0; d < f.dimensions(); d++) {
        for (const program::StorageDimension &s : f.schedule.storage) {
            if (s.var != f.args[size_t(d)] || !s.fold_factor.defined()) continue;
            facts.folds.push_back({d, false, s.var, cast(Int(32), s.fold_factor), s.fold_written});
        }
    }
    facts.is_async = f.schedule.async;
    facts.async_written = async_written(f.schedule);
    facts.is_passed = f.has_extern_definition() || context.is_read_by_extern(f.name);
    facts.traced = traced_of(f.schedule.trace, context.target);
    if (context.buffers.at(f.name) != std::vector{f.name}) {
        facts.buffers = context.buffers.at(f.name);
    }
    facts.compute_written = f.schedule.compute_written;
    return facts;
}

HoistFacts hoist_facts(const FunctionContents &f) {
    const program::FuncSchedule &s = f.schedule;
    const Expr copies = s.ring_buffer.defined() ? cast(Int(32), s.ring_buffer) : Expr();
    return {copies, s.hoist_written, ring_buffer_written(s)};
}

}  // namespace tessera::lower
