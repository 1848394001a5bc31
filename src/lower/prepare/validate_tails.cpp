#include "lower/prepare/validate_tails.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "lower/nest/stage.h"
#include "program/loop_transforms.h"
#include <set>

namespace tessera::lower {

using program::FunctionContents;
using program::Loop;
using program::StageSchedule;

namespace {

// The loops that are made from this one by the transforms from `next` on.
std::set<Symbol> loops_made_from(Symbol loop, const StageSchedule &s, size_t next) {
    const std::vector<Symbol> leaves = program::leaves_of_loops(s, {loop}, next);
    return {leaves.begin(), leaves.end()};
}

// The first parallel (or vectorized) loop that is made of one that runs over tiles, or the parallel
// one made of what is within a tile and around some of those: then tiles are at work at the same
// time. Null if there is none.
const Loop *loop_at_once(const StageSchedule &s, const std::set<Symbol> &tiles,
                         const std::set<Symbol> &within, bool vectorized_too) {
    bool around_tiles = false;
    for (const Loop &l : s.loops) {
        const bool parallel = traits_of(l.kind).is_on_threads;
        const bool at_once = parallel || (vectorized_too && traits_of(l.kind).is_in_lanes);
        bool of_tiles = tiles.contains(l.var);
        if (at_once && of_tiles) return &l;
        if (parallel && around_tiles && within.contains(l.var)) return &l;
        around_tiles |= of_tiles;
    }
    return nullptr;
}

// The same for the tiles of a split.
const Loop *tiles_at_once(const StageSchedule &s, size_t split, bool vectorized_too) {
    const auto &made = std::get<program::Split>(s.transforms[split].directive);
    return loop_at_once(s, loops_made_from(made.outer, s, split + 1),
                        loops_made_from(made.inner, s, split + 1), vectorized_too);
}

// If the tail of a split runs beyond a tile of an earlier one, returns the first loop because of
// which the next tile is at work at the same time. Null if there is none.
const Loop *next_tile_at_once(const StageSchedule &s, size_t split) {
    const auto &made = std::get<program::Split>(s.transforms[split].directive);
    const program::LoopFacts facts = program::facts_of_loop(s, made.old, split);
    if (!model_of(made)->may_run_beyond({facts})) return nullptr;
    const std::set<Symbol> within = loops_made_from(made.old, s, split);
    for (const program::Maker &earlier : program::makers_of(s, made.old, split)) {
        if (const std::optional<size_t> tiles = earlier.model->tiles_of(earlier.loop)) {
            const Symbol outer = earlier.model->made()[*tiles];
            const std::set<Symbol> others = loops_made_from(outer, s, earlier.transform + 1);
            if (const Loop *l = loop_at_once(s, others, within, true)) return l;
        }
        if (earlier.model->tail().leaves_out) return nullptr;  // what is beyond all tiles
    }
    return nullptr;
}

// Rounded tiles do not overlap, but Halide says that they may race.
void check_rounded_blend(const FunctionContents &f, const StageSchedule &s, size_t t) {
    const Loop *l = f.dialect == Dialect::Halide ? tiles_at_once(s, t, false) : nullptr;
    if (!l) return;
    throw CompileError(s.transforms[t].at,
                       str("split of ", f.name, ": with TailStrategy::RoundUpAndBlend the loop ",
                           l->var, " cannot be parallel in Halide; use GuardWithIf"));
}

// To blend is to write back what is there. The element of another tile must not change meanwhile.
void check_blend_within_tile(const FunctionContents &f, const StageSchedule &s, size_t t) {
    const auto &split = std::get<program::Split>(s.transforms[t].directive);
    const Loop *l = next_tile_at_once(s, t);
    if (!l) return;
    throw CompileError(
        s.transforms[t].at,
        str("split of ", f.name, ": by ", split.factor, " with TailStrategy::", name_of(split.tail),
            " it runs beyond the end of ", split.old,
            ", which is a part of an earlier split, into the next part, so the loop ", l->var,
            " cannot be ", name_of(l->kind), "; use GuardWithIf, or a factor that divides ",
            split.old));
}

void check_overlaps_beside_blends(const FunctionContents &f, const StageSchedule &s) {
    for (size_t t = 0; t < s.transforms.size(); t++) {
        const auto *split = std::get_if<program::Split>(&s.transforms[t].directive);
        if (!split || traits_of(split->tail).blends) continue;
        const Loop *l = traits_of(split->tail).overlaps ? tiles_at_once(s, t, true) : nullptr;
        if (!l) l = next_tile_at_once(s, t);
        if (!l) continue;
        throw CompileError(s.transforms[t].at,
                           str("split of ", f.name, ": with TailStrategy::", name_of(split->tail),
                               " the iterations of the ", name_of(l->kind), " loop ", l->var,
                               " overlap, and to blend, as another split of ", f.name,
                               " does, is to read what they write; use GuardWithIf"));
    }
}

// Tiles that are shifted inwards overlap; to blend, one must be complete before the next begins.
void check_blends(const FunctionContents &f, const StageSchedule &s) {
    bool blends = false;
    for (size_t t = 0; t < s.transforms.size(); t++) {
        const auto *split = std::get_if<program::Split>(&s.transforms[t].directive);
        if (!split || !traits_of(split->tail).blends) continue;
        blends = true;
        if (split->tail == TailStrategy::RoundUpAndBlend) check_rounded_blend(f, s, t);
        check_blend_within_tile(f, s, t);
        if (split->tail != TailStrategy::ShiftInwardsAndBlend) continue;
        const Loop *l = tiles_at_once(s, t, true);
        if (!l) continue;
        throw CompileError(s.transforms[t].at,
                           str("split of ", f.name,
                               ": with TailStrategy::ShiftInwardsAndBlend the last "
                               "iteration of ",
                               split->outer,
                               " keeps what the one before it has computed, "
                               "so the loop ",
                               l->var, " cannot be ", name_of(l->kind),
                               "; use GuardWithIf or RoundUpAndBlend"));
    }
    if (blends) check_overlaps_beside_blends(f, s);
}

}  // namespace

void validate_tails(const FunctionContents &f) {
    for (const program::DefinitionRef &stage : f.stages) {
        for (const program::Definition *version : versions_of(*stage)) {
            check_blends(f, version->schedule);
        }
    }
}

}  // namespace tessera::lower
