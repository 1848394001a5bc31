#include "Halide.h"

// An autoscheduler of somebody else's.
static const bool added = [] {
    Halide::Pipeline::add_autoscheduler("Unrolling",
                                        [](const Halide::Pipeline &pipeline, const Halide::Target &,
                                           const Halide::AutoschedulerParams &,
                                           Halide::AutoSchedulerResults *results) {
                                            Halide::Func f = pipeline.outputs()[0];
                                            f.unroll(f.args()[0], 2);
                                            results->schedule_source = "unrolled";
                                        });
    return true;
}();
