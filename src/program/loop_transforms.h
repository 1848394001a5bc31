#pragma once
#include "program/schedule.h"

namespace tessera::program {

// The loops that a transform takes away, innermost first, and those that it makes in their place.
std::vector<Symbol> loops_taken(const LoopTransform &transform);
std::vector<Symbol> loops_made(const LoopTransform &transform);

// What the loop is made from directly by the transform; none if that makes others.
std::vector<Symbol> made_from(const LoopTransform &transform, Symbol loop);

// The variables of the domain (or pure variables) that the loop was made from.
std::vector<Symbol> roots_of_loop(const StageSchedule &schedule, Symbol loop);

// What the transforms from `first` on have made from these loops.
std::vector<Symbol> leaves_of_loops(const StageSchedule &schedule, std::vector<Symbol> loops,
                                    size_t first);

}  // namespace tessera::program
