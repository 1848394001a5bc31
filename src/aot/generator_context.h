#pragma once
#include "lang/autoscheduler.h"

namespace tessera {

// The target, autoscheduler and externs that a generator makes its pipeline for.
class GeneratorContext {
public:
    // TESSERA_TARGET, or else the host.
    GeneratorContext() : GeneratorContext(get_target_from_environment()) {}
    // `scheduler`: of the pipeline, instead of the generator's own schedule; none without a name.
    explicit GeneratorContext(const Target &target, const AutoschedulerParams &scheduler = {})
        : for_target(target), scheduler(scheduler) {}

    const Target &target() const { return for_target; }
    const AutoschedulerParams &autoscheduler_params() const { return scheduler; }
    GeneratorContext with_target(const Target &target) const {
        return GeneratorContext(target, scheduler);
    }

private:
    Target for_target;
    AutoschedulerParams scheduler;
};

}  // namespace tessera
