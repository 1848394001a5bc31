#include "lower/nest/sites.h"
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

Sites::Sites(const Context &context) : context(context) {
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

std::vector<Symbol> Sites::at(Symbol func, int stage, Symbol var) const {
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

bool Sites::matches(const LoopLevel &level, Symbol func, const Site &site) const {
    if (context.is_output(func)) return !site.owner;
    if (!site.owner) return level.means_root();
    if (site.loop < 0) return level.means_inlined();
    return level.is_at() && level.func() == site.owner->func.name &&
           level.var() == site.owner->loops[size_t(site.loop)].var &&
           (level.stage() < 0 || level.stage() == site.owner->stage);
}

bool Sites::computes(Symbol func, const Site &site) const {
    return matches(context.function(func)->schedule.compute_level, func, site);
}

bool Sites::stores(Symbol func, const Site &site) const {
    return matches(store_level(context.function(func)->schedule), func, site);
}

bool Sites::hoists(Symbol func, const Site &site) const {
    const FuncSchedule &s = context.function(func)->schedule;
    return s.hoist_level_set && !hoist_level(s).matches(store_level(s)) &&
           matches(hoist_level(s), func, site);
}

}  // namespace tessera::lower
