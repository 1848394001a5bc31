#pragma once
#include "lower/nest/regions.h"

namespace tessera::lower {

// Puts a Prefetch around one iteration of a loop: of the region that `regions`, at the loop `from`,
// say is needed, `offset` iterations of that loop later.
ir::Stmt wrap_prefetch(const ir::Stmt &body, SiteRegions &regions,
                       const program::PrefetchDirective &prefetch, const StageNest::Loop &from,
                       const Context &context);

}  // namespace tessera::lower
