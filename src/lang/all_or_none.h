#pragma once
#include "program/apply.h"
#include <utility>

namespace tessera::detail {

// The steps of one directive: if one is refused, the schedule is as it was before the first.
template<typename Steps>
void all_or_none(const program::StageRef &s, Steps steps) {
    program::StageSchedule before = s.definition->schedule;
    try {
        steps();
    } catch (...) {
        s.definition->schedule = std::move(before);
        throw;
    }
}

}  // namespace tessera::detail
