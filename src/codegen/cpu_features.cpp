#include "codegen/cpu_features.h"
#include "codegen/llvm/architecture.h"

namespace tessera::codegen {

uint64_t runtime_features(const Target &target) {
    return architecture_of(target).runtime_features(target.with_implied_features());
}

}  // namespace tessera::codegen
