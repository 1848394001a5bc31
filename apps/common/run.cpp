#include "common/run.h"

#include <cstdio>

namespace tessera::apps {

Times run_timed(const Filter &filter, const std::vector<FilterArgument> &arguments,
                const Options &options) {
    const PreparedFilter prepared = prepare(filter, arguments);
    prepared.call();  // threads started, pages touched
    const Times times = measure(options.repeat, prepared.call);
    const std::vector<tessera_dimension_t> &size = arguments.back().dims;
    std::printf("%s: %d x %d, %s, best of %d runs %.3f ms, median %.3f ms\n", options.app.c_str(),
                size[0].extent, size[1].extent, prepared.prepared.c_str(), times.count, times.best,
                times.median);
    return times;
}

}  // namespace tessera::apps
