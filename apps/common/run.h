// Run an app's pipeline as often as asked, and print how long it took.
#pragma once

#include "common/filter.h"
#include "common/options.h"
#include "common/timing.h"

namespace tessera::apps {

Times run_timed(const Filter &filter, const std::vector<FilterArgument> &arguments,
                const Options &options);

}  // namespace tessera::apps
