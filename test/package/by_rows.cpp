#include <tessera.h>
using namespace tessera;

// A plugin: an autoscheduler that unrolls a number of rows.
static const bool added = [] {
    Pipeline::add_autoscheduler("by_rows", [](const Pipeline &pipeline, const Target &,
                                              const AutoschedulerParams &params,
                                              AutoSchedulerResults *) {
        for (Func f : pipeline.outputs()) {
            f.unroll(f.args().back(), std::stoi(params.extra.at("rows")));
        }
    });
    return true;
}();
