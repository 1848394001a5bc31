#pragma once
#include "program/transform_model.h"

namespace tessera::program {

// The loops that a transform takes away, innermost first, and those that it makes in their place.
std::vector<Symbol> loops_taken(const LoopTransform &transform);
std::vector<Symbol> loops_made(const LoopTransform &transform);

// Returns the loops that the transform makes this loop from directly; none if that makes others.
std::vector<Symbol> made_from(const LoopTransform &transform, Symbol loop);

// The variables of the domain (or pure variables) that the loop was made from.
std::vector<Symbol> roots_of_loop(const StageSchedule &schedule, Symbol loop);

// Returns the loops that the transforms from `first` on have made from these loops.
std::vector<Symbol> leaves_of_loops(const StageSchedule &schedule, std::vector<Symbol> loops,
                                    size_t first);

// A transform that made a loop, which is the number `loop` of those that it makes.
struct Maker {
    std::unique_ptr<const TransformModel> model;
    size_t transform, loop;
};

// Returns the transforms that the loop's end comes from: the one of the first `count` transforms
// that made it, then the one that made what this took and what goes beyond its end with it, and so
// on.
std::vector<Maker> makers_of(const StageSchedule &schedule, Symbol loop, size_t count);

// Returns the facts about a loop that exists after the first `count` transforms.
LoopFacts facts_of_loop(const StageSchedule &schedule, Symbol loop, size_t count);

}  // namespace tessera::program
