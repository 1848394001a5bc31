#include "lower/nest/insertion_points.h"
#include <algorithm>

namespace tessera::lower {

using program::FuncSchedule;
using program::LoopLevel;

const LoopLevel &store_level(const FuncSchedule &s) {
    return s.store_level_set ? s.store_level : s.compute_level;
}

const LoopLevel &hoist_level(const FuncSchedule &s) {
    return s.hoist_level_set ? s.hoist_level : store_level(s);
}
Location ring_buffer_written(const FuncSchedule &s) {
    Location at;
    for (const auto &d : s.directives) {
        if (std::holds_alternative<program::RingBuffer>(d.directive)) at = d.at;
    }
    return at;
}

InsertionPoints::InsertionPoints(const ProgramContext &context) : context(context) {
    for (const program::FunctionRef &f : context.order) {
        const FuncSchedule &s = f->schedule;
        if (context.is_output(f->name)) continue;
        if (s.compute_level.means_inlined()) {
            inlined.push_back(f->name);
            continue;
        }
        for (const LoopLevel *level : {&s.compute_level, &store_level(s), &hoist_level(s)}) {
            if (!level->is_at()) continue;
            std::vector<Symbol> &there = by_loop[{level->func(), level->var()}];
            if (there.empty() || there.back() != f->name) there.push_back(f->name);
        }
    }
}

std::vector<Symbol> InsertionPoints::at(Symbol func, int stage, Symbol var) const {
    std::vector<Symbol> there;
    auto found = by_loop.find({func, var});
    if (found == by_loop.end()) return there;
    for (Symbol f : found->second) {
        const FuncSchedule &s = context.function(f)->schedule;
        for (const LoopLevel *level : {&s.compute_level, &store_level(s), &hoist_level(s)}) {
            bool here = level->is_at() && level->func() == func && level->var() == var &&
                        (level->stage() < 0 || level->stage() == stage);
            if (here && (there.empty() || there.back() != f)) there.push_back(f);
        }
    }
    return there;
}

bool InsertionPoints::matches(const LoopLevel &level, Symbol func,
                              const InsertionPoint &insertion_point) const {
    if (context.is_output(func)) return !insertion_point.owner;
    if (!insertion_point.owner) return level.means_root();
    if (insertion_point.loop < 0) return level.means_inlined();
    return level.is_at() && level.func() == insertion_point.owner->func.name &&
           level.var() == insertion_point.owner->loops[size_t(insertion_point.loop)].var &&
           (level.stage() < 0 || level.stage() == insertion_point.owner->stage);
}

bool InsertionPoints::computes(Symbol func, const InsertionPoint &insertion_point) const {
    return matches(context.function(func)->schedule.compute_level, func, insertion_point);
}

bool InsertionPoints::stores(Symbol func, const InsertionPoint &insertion_point) const {
    return matches(store_level(context.function(func)->schedule), func, insertion_point);
}

bool InsertionPoints::hoists(Symbol func, const InsertionPoint &insertion_point) const {
    const FuncSchedule &s = context.function(func)->schedule;
    const bool is_elsewhere = s.hoist_level_set && !hoist_level(s).matches(store_level(s));
    // A ring buffer in a kernel: see the pass "hoist rings".
    const bool is_ring = s.ring_buffer.defined() && s.async;
    return (is_elsewhere || is_ring) && matches(hoist_level(s), func, insertion_point);
}

}  // namespace tessera::lower
