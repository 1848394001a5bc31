#include "lower/prepare/drop_needless.h"
#include "base/warning.h"
#include "lower/prepare/directive_kinds.h"
#include "program/apply.h"
#include <algorithm>

namespace tessera::lower {
namespace {

using program::FuncDirective;
using program::FunctionContents;
using program::StageDirective;

bool is_about_place_or_storage(const FuncDirective &d) {
    return is_one_of<program::ComputeLevel, program::StoreLevel, program::HoistStorageLevel,
                     program::FoldStorage, program::RingBuffer, program::AsyncDirective,
                     program::ReorderStorage, program::AlignStorage, program::BoundStorage,
                     program::StoreIn>(d);
}

bool makes_vectors_or_tasks(const StageDirective &d) {
    const auto *kind = std::get_if<program::SetLoopKind>(&d);
    return (kind && kind->kind != LoopKind::Serial) ||
           std::holds_alternative<program::Tensorize>(d);
}

bool is_about_loops(const StageDirective &d) {
    return is_one_of<program::Split, program::Fuse, program::Rename, program::Reorder,
                     program::SetPartition, program::PrefetchDirective, program::AtomicDirective>(
        d);
}

// Removes what `needless` says, and warns of it unless it is the default.
template<typename List, typename Needless>
void drop(List &directives, const FunctionContents &f, const char *why, Needless needless) {
    auto gone = [&](const auto &written) {
        if (!needless(written.directive)) return false;
        warn(written.at, str(program::directive_name(written.directive), " of ", f.name,
                             " has no effect: ", f.name, why));
        return true;
    };
    std::erase_if(directives, gone);
}

// All but the levels, which say where it is.
void reset_storage(FunctionContents &f) {
    program::FuncSchedule &s = f.schedule;
    s.memory = MemoryType::Auto;
    s.async = false;
    s.ring_buffer = ir::Expr();
    s.storage.clear();
    for (Symbol arg : f.args) s.storage.emplace_back().var = arg;
}

// An output that is to be computed or stored within a loop is refused by Halide as well.
bool says_a_level(const FuncDirective &d) {
    return is_one_of<program::ComputeLevel, program::StoreLevel, program::HoistStorageLevel>(d);
}

bool is_about_storage(const FuncDirective &d) {
    return !says_a_level(d) && is_about_place_or_storage(d);
}

// With updates, it is stored wherever it is computed inline, for as long as it is used there.
bool is_about_long_use(const FuncDirective &d) {
    return is_one_of<program::FoldStorage, program::RingBuffer, program::AsyncDirective>(d);
}

void drop_long_use(FunctionContents &f, const char *why) {
    drop(f.schedule.directives, f, why, is_about_long_use);
    f.schedule.async = false;
    f.schedule.ring_buffer = ir::Expr();
    for (program::StorageDimension &d : f.schedule.storage) d.fold_factor = ir::Expr();
}

void drop_storage(FunctionContents &f, const char *why) {
    auto &directives = f.schedule.directives;
    bool any = std::any_of(directives.begin(), directives.end(),
                           [&](const auto &d) { return is_about_storage(d.directive); });
    if (!any) return;
    drop(directives, f, why, is_about_storage);
    reset_storage(f);
}

void drop_from_output(FunctionContents &f) { drop_storage(f, " is an output of the pipeline"); }

void drop_from_inlined(FunctionContents &f) {
    const char *why = " is computed inline";
    if (f.stages.size() > 1) return drop_long_use(f, why);
    drop_storage(f, why);
    // An extern stage has loops for every point that is needed.
    if (f.has_extern_definition()) return;
    auto &stage = f.stages[0]->schedule.directives;
    bool meant = std::any_of(stage.begin(), stage.end(),
                             [](const auto &d) { return makes_vectors_or_tasks(d.directive); });
    if (!meant) drop(stage, f, why, is_about_loops);
}

}  // namespace

void drop_needless_directives(const program::Environment &environment,
                              const std::vector<program::FunctionRef> &outputs) {
    for (const program::FunctionRef &f : environment.order) {
        if (std::ranges::find(outputs, f) != outputs.end()) {
            drop_from_output(*f);
        } else if (f->schedule.compute_level.defined() &&
                   f->schedule.compute_level.means_inlined()) {
            drop_from_inlined(*f);
        }
    }
}

}  // namespace tessera::lower
