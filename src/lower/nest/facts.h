#pragma once
#include "lower/nest/region.h"
#include "lower/nest/stage.h"
#include "lower/program_context.h"

// The facts about schedules that the IR carries, for the passes that come after the loop nests.
namespace tessera::lower {

ir::LoopOrigin origin_of(const StageNest &nest, const StageNest::Loop &loop);

// Returns what the loops of a stage stream. `around`: the streams of the stage that it is computed
// for, which a reduction computed inline does as well.
ir::Streams streams_of(const StageNest &nest, const ir::Streams &around,
                       const ProgramContext &context);

// Returns the facts of a function whose last stage is required to compute this region.
ir::Produced produced_of(const program::FunctionContents &f, const StageRegion &last,
                         const ProgramContext &context);

// Returns true if the user has said how to fold any dimension.
bool asks_for_fold(const program::FunctionContents &f);

ir::StorageFacts storage_facts(const program::FunctionContents &f, const ProgramContext &context);

ir::HoistFacts hoist_facts(const program::FunctionContents &f);

}  // namespace tessera::lower
