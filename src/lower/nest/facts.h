#pragma once
#include "lower/context.h"
#include "lower/nest/region.h"
#include "lower/nest/stage.h"

// What the IR is told of schedules, for the passes that come after the loop nests.
namespace tessera::lower {

ir::LoopOrigin origin_of(const StageNest &nest, const StageNest::Loop &loop);

// What the loops of a stage stream. `around`: what the stage does that it is computed for, which a
// reduction computed inline does as well.
ir::Streams streams_of(const StageNest &nest, const ir::Streams &around, const Context &context);

// Of a function of which the last stage is asked for this region.
ir::Produced produced_of(const program::FunctionContents &f, const Region &last,
                         const Context &context);

// Whether the user has said how to fold any dimension.
bool asks_for_fold(const program::FunctionContents &f);

ir::StorageFacts storage_facts(const program::FunctionContents &f, const Context &context);

ir::HoistFacts hoist_facts(const program::FunctionContents &f);

}  // namespace tessera::lower
