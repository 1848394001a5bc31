#pragma once
#include "autoscheduler/index_program.h"
#include "program/schedule.h"
#include <utility>

namespace tessera::autoscheduler {

// The transforms of a stage, done to numbers: loops count from 0.
class LoopSpans {
public:
    // Describes the loops of a stage whose variables run over these spans.
    LoopSpans(const program::StageSchedule &schedule, const Variables &variables,
              std::span<const Span> spans);

    int64_t extent(Symbol loop) const;
    // The values of the variables while each loop of `fixed` is in the middle of its iterations,
    // and all others run.
    std::vector<Span> variables_with_fixed(std::span<const Symbol> fixed) const;

private:
    const program::StageSchedule &schedule;
    const Variables &variables;
    std::span<const Span> spans;
    void set_extent(Symbol loop, int64_t extent);
    std::vector<std::pair<Symbol, int64_t>> extents;  // of the loops that there were, a few
    // The extent of the loop that a split takes, or of the inner one that a fuse takes, per
    // transform: a name may be used again for another loop.
    std::vector<int64_t> taken;
};

}  // namespace tessera::autoscheduler
