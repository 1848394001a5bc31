#pragma once
#include "base/target.h"

namespace tessera {

// What a generator makes its pipeline for.
class GeneratorContext {
public:
    // TESSERA_TARGET, or else the host.
    GeneratorContext() : GeneratorContext(get_target_from_environment()) {}
    explicit GeneratorContext(const Target &target) : for_target(target) {}

    const Target &target() const { return for_target; }
    GeneratorContext with_target(const Target &target) const { return GeneratorContext(target); }

private:
    Target for_target;
};

}  // namespace tessera
