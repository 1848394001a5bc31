#include "lower/prepare/copy_stages.h"
#include "program/apply.h"
#include "program/apply_checks.h"
#include "program/define.h"
#include "program/tail.h"

namespace tessera::lower {

using namespace program;

namespace {

const char *name_of(CopySide side) {
    return side == CopySide::Device ? "copy_to_device" : "copy_to_host";
}

// Returns what is copied in the end, by way of functions that are computed inline.
ExternFuncArgument source_of(const ir::Call &call, const Environment &environment) {
    ExternFuncArgument source;
    if (call.call_kind == CallKind::Image) {
        const auto *image = dynamic_cast<const Parameter *>(call.referent.get());
        source.buffer = ParameterRef(const_cast<Parameter *>(image));
        return source;
    }
    source.func = environment.functions.at(call.callee).without_family();
    const FunctionContents &f = *source.func;
    const bool is_inline = f.schedule.compute_level.means_inlined();
    if (!is_inline || !why_no_copy(f).empty()) return source;
    const auto &image = *f.stages[0]->values[0].as<ir::Call>();
    return image.call_kind == CallKind::Image ? source_of(image, environment) : source;
}

// Finds the loops that one call of a copy runs: those without a kind of their own, and inner ones
// of splits.
void find_loops_in_call(StageSchedule &schedule, const std::vector<Symbol> &args) {
    std::unordered_map<Symbol, bool> in_call;
    for (Symbol arg : args) in_call[arg] = true;
    for (const auto &[directive, at, order] : schedule.directives) {
        std::visit(
            overloaded{
                [&](const Split &s) {
                    in_call[s.inner] = in_call[s.old];
                    in_call[s.outer] = false;
                },
                [&](const Fuse &f) { in_call[f.fused] = in_call[f.inner] && in_call[f.outer]; },
                [&](const Rename &r) { in_call[r.new_name] = in_call[r.old]; },
                [&](const SetLoopKind &k) { in_call[k.var] = false; },
                [&](const program::Tensorize &t) { in_call[t.var] = false; },
                [](const auto &) {},
            },
            directive);
    }
    for (Loop &l : schedule.loops) l.in_call = l.var != outermost_loop() && in_call[l.var];
}

// Directives that say how elements are loaded and stored, and computed side by side.
void refuse_about_elements(const FunctionContents &f, const char *directive) {
    for (const auto &[d, at, order] : f.stages[0]->schedule.directives) {
        const auto *kind = std::get_if<SetLoopKind>(&d);
        const bool is_in_lanes = kind && traits_of(kind->kind).is_in_lanes;
        const auto *split = std::get_if<Split>(&d);
        const bool blends = split && traits_of(split->tail).blends;
        if (!is_in_lanes && !blends && !std::holds_alternative<PrefetchDirective>(d) &&
            !std::holds_alternative<StreamLoads>(d) && !std::holds_alternative<StreamStores>(d)) {
            continue;
        }
        throw CompileError(at, str(directive_name(d), ": ", f.name, " is computed by ", directive,
                                   "(), which copies all elements at once; its loops may be split, "
                                   "and be serial or parallel"));
    }
}

void require_device(const FunctionContents &f, const char *what, const Location &at,
                    const Target &target) {
    if (target.has_gpu_feature()) return;
    throw CompileError(at, str(what, " of ", f.name, ": the target ", target,
                               " has no GPU; add the feature cuda to it, or ask "
                               "Target::has_gpu_feature() before"));
}

void make_copy_stage(FunctionContents &f, const Environment &environment, const Target &target) {
    const CopySide side = f.schedule.copy;
    const Location &at = f.schedule.copy_written;
    if (side == CopySide::Device) require_device(f, name_of(side), at, target);
    const ExternFuncArgument source =
        source_of(require_copied_call(f, name_of(side), at), environment);
    if (source.func && source.func->types.size() > 1) {
        throw CompileError(at, str(name_of(side), " of ", f.name, ": it copies ", source.func->name,
                                   ", which has several values; copy a Func that has one"));
    }
    refuse_about_elements(f, name_of(side));
    find_loops_in_call(f.stages[0]->schedule, f.args);
    f.stages[0]->values.clear();
    f.extern_definition = std::make_shared<ExternDefinition>();
    f.extern_definition->function = name_of(side);
    f.extern_definition->args = {source};
    f.extern_definition->written = at;
    f.extern_definition->copy = side;
}

}  // namespace

void make_copy_stages(Environment &environment, const Target &target) {
    for (const FunctionRef &f : environment.order) {
        if (f->has_extern_definition() && f->extern_definition->on_device)
            require_device(*f, "define_extern", f->extern_definition->written, target);
        if (f->schedule.copy != CopySide::None) make_copy_stage(*f, environment, target);
    }
}

}  // namespace tessera::lower
