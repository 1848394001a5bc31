#include "lower/prepare/validate_effects.h"
#include "lower/nest/stage.h"
#include "lower/prepare/directive_kinds.h"
#include "program/apply.h"
#include <set>

namespace tessera::lower {

using program::FuncDirective;
using program::FunctionContents;
using program::StageDirective;

namespace {

bool wants_storage(const FuncDirective &d) {
    const auto *store = std::get_if<program::StoreLevel>(&d);
    const auto *hoist = std::get_if<program::HoistStorageLevel>(&d);
    return (store && !store->level.means_inlined()) || (hoist && !hoist->level.means_inlined()) ||
           is_one_of<program::FoldStorage, program::RingBuffer, program::AsyncDirective,
                     program::ReorderStorage, program::AlignStorage, program::BoundStorage,
                     program::StoreIn>(d);
}

// A function that is computed inline may have these directives if it has storage wherever it is.
bool is_about_layout(const FuncDirective &d) {
    return is_one_of<program::ReorderStorage, program::AlignStorage, program::BoundStorage,
                     program::StoreIn>(d);
}

bool wants_storage_of_its_own(const FuncDirective &d) {
    const auto *store = std::get_if<program::StoreLevel>(&d);
    const auto *hoist = std::get_if<program::HoistStorageLevel>(&d);
    if (store || hoist) return !(store ? store->level : hoist->level).means_root();
    return wants_storage(d);
}

// allow_race_conditions and serial loops are there by default.
bool wants_loops(const StageDirective &d) {
    const auto *kind = std::get_if<program::SetLoopKind>(&d);
    if (kind) return kind->kind != LoopKind::Serial;
    return !is_one_of<program::AllowRaceConditions, program::Rfactor, program::CopyInput>(d);
}

bool is_same_place(const Location &a, const Location &b) {
    return a.line == b.line && std::string_view(a.file) == b.file;
}

[[noreturn]] void refuse(const Location &at, const std::string &directive,
                         const FunctionContents &f, std::string_view why) {
    throw CompileError(at, str(directive, " of ", f.name, ": ", f.name, why));
}

// All that the stage reads, also in the reductions that are computed inline in it.
void add_reads(const program::DefinitionRef &stage, const ProgramContext &context,
               std::set<Symbol> &reads) {
    for (const program::Definition *version : versions_of(*stage)) {
        for (const StageCall &call : calls_of(*version)) {
            if (!reads.insert(call.callee).second) continue;
            const FunctionContents *f = context.function(call.callee);
            if (!f || !f->schedule.compute_level.means_inlined()) continue;
            for (const program::DefinitionRef &inner : f->stages) {
                add_reads(inner, context, reads);
            }
        }
    }
}

}  // namespace

void validate_inline(const FunctionContents &f) {
    const bool has_storage = f.stages.size() > 1;
    for (const auto &[directive, at, order] : f.schedule.directives) {
        if (!wants_storage(directive) || (has_storage && is_about_layout(directive))) continue;
        refuse(at, program::directive_name(directive), f,
               " is computed inline and has no storage; say where it is computed with "
               "compute_root() or compute_at()");
    }
    // One with updates, or an extern stage, has loops of its own for every point that is needed.
    if (f.stages.size() > 1 || f.has_extern_definition()) return;
    const program::Written<StageDirective> *refused = nullptr;
    for (const auto &d : f.stages[0]->schedule.directives) {
        if (!wants_loops(d.directive)) continue;
        // vectorize(x, 8) is a split and what is to become of one of its loops: that was meant.
        bool same_line = refused && is_same_place(d.at, refused->at);
        if (refused && !same_line) break;
        if (!refused || is_one_of<program::SetLoopKind>(d.directive)) refused = &d;
    }
    if (!refused) return;
    refuse(refused->at, program::directive_name(refused->directive), f,
           " is computed inline and has no loops of its own; say where it is computed with "
           "compute_root() or compute_at()");
}

void validate_output(const FunctionContents &f) {
    const program::FuncSchedule &s = f.schedule;
    if (s.compute_level.is_at() || !s.compute_level.defined()) {
        throw CompileError(s.compute_written,
                           str("compute_at of ", f.name,
                               ": it is an output of the pipeline, "
                               "which is always computed at the root; remove the directive"));
    }
    for (const auto &[directive, at, order] : s.directives) {
        if (std::holds_alternative<program::AsyncDirective>(directive)) {
            refuse(at, "async", f,
                   " is an output of the pipeline, so that no consumer runs beside "
                   "it; remove the directive, or make a function that reads it "
                   "the output");
        }
        if (!wants_storage_of_its_own(directive)) continue;
        refuse(at, program::directive_name(directive), f,
               " is an output of the pipeline, whose storage is the buffer that the caller gives; "
               "remove the directive, or say what that buffer is like with output_buffer()");
    }
}

void validate_streams(const FunctionContents &f, const ProgramContext &context) {
    for (size_t s = 0; s < f.stages.size(); s++) {
        std::set<Symbol> reads;
        for (const auto &[directive, at, order] : f.stages[s]->schedule.directives) {
            const auto *streams = std::get_if<program::StreamLoads>(&directive);
            if (!streams) continue;
            if (reads.empty()) add_reads(f.stages[s], context, reads);
            for (Symbol what : streams->what) {
                if (reads.contains(what)) continue;
                refuse(at, "stream_loads", f,
                       str(" reads no ", what, " from memory; it reads ",
                           reads.empty() ? "nothing" : join(reads)));
            }
        }
    }
}

}  // namespace tessera::lower
