// Compile a pipeline, run it as often as asked, and print how long both took.
#pragma once

#include "common/options.h"
#include "common/timing.h"

#include <tessera.h>

#include <cstdio>

namespace tessera::apps {

template<typename T> Times run_timed(Func &output, Buffer<T> result, const Options &options) {
    double compiling = milliseconds([&] { output.compile_jit(); });
    output.realize(result);  // threads started, pages touched
    Times times = measure(options.repeat, [&] { output.realize(result); });
    std::printf("%s: %d x %d, compiled in %.1f ms, best of %d runs %.3f ms, median %.3f ms\n",
                options.app.c_str(), result.dim(0).extent(), result.dim(1).extent(), compiling,
                times.count, times.best, times.median);
    return times;
}

}  // namespace tessera::apps
