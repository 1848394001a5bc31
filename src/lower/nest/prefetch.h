#pragma once
#include "lower/nest/regions.h"

namespace tessera::lower {

// Puts a Prefetch around one iteration of a loop of this stage: of the region that `regions`, at
// the loop `from`, say is needed, or written if it is the stage's own function, `offset` iterations
// of that loop later.
ir::Stmt wrap_prefetch(const ir::Stmt &body, RegionInference &regions,
                       const program::PrefetchDirective &prefetch, const StageNestRef &nest,
                       const StageNest::Loop &from, const ProgramContext &context);

}  // namespace tessera::lower
