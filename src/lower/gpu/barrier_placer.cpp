#include "lower/gpu/barrier_placer.h"
#include <utility>

namespace tessera::lower {

using namespace ir;

Stmt BarrierPlacer::before(BlockAccesses next) {
    next.remove(privates);
    next.rename(memory_of);
    const bool is_needed = barrier && phase.pending.conflicts_with(next);
    if (is_needed) have_met();
    phase.pending.add(next);
    if (!phase.has_met) phase.leading.add(next);
    return is_needed ? barrier() : Stmt();
}

void BarrierPlacer::have_met() {
    phase.pending.clear();
    phase.has_met = true;
}

Stmt BarrierPlacer::in_production(const Statement &body) {
    const int around = std::exchange(production, ++productions);
    Stmt s = body();
    production = around;
    return s;
}

// The barrier between what was done before and the first iteration stands
// before the loop; that between two iterations, in it.
BarrierPlacer::Loop BarrierPlacer::repeated(const Statement &body) {
    Phase around = std::exchange(phase, Phase());
    const int productions_before = productions;
    Loop loop{{}, body()};
    // The next iteration begins with what the first one began with.
    const bool meets_first = barrier && around.pending.conflicts_with(phase.leading),
               meets_next =
                   barrier && phase.pending.conflicts_with(phase.leading, productions_before);
    if (meets_first && meets_next) {
        loop.body = Block::make(barrier(), loop.body);
    } else if (meets_first) {
        loop.before = barrier();
        around.pending.clear();
        around.has_met = true;
    } else if (meets_next) {
        loop.body = Block::make(loop.body, barrier());
        phase.pending.clear();
    }
    if (!around.has_met) around.leading.add(phase.leading);
    around.pending.add(phase.pending);
    phase = std::move(around);
    return loop;
}

BarrierPlacer::Branches BarrierPlacer::either(const Statement &then_case,
                                              const Statement &else_case) {
    const Phase at_start = phase;
    Branches made;
    made.then_case = then_case();
    const Phase after = std::exchange(phase, at_start);
    if (else_case) made.else_case = else_case();
    phase.pending.add(after.pending);
    phase.leading.add(after.leading);
    phase.has_met = at_start.has_met || (phase.has_met && after.has_met);
    return made;
}

Stmt BarrierPlacer::apart(const Statement &body) {
    Phase around = std::exchange(phase, Phase());
    Stmt s = body();
    phase = std::move(around);
    return s;
}

void BarrierPlacer::forget(Symbol buffer) {
    phase.pending.remove({buffer});
    phase.leading.remove({buffer});
}

}  // namespace tessera::lower
