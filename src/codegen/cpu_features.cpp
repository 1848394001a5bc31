#include "codegen/cpu_features.h"
#include "base/error.h"
#include "codegen/x86/features.h"

namespace tessera::codegen {

uint64_t runtime_features(const Target &target) {
    if (target.arch == Target::X86) return x86_runtime_features(target.with_implied_features());
    throw CompileError(str("code for ", target,
                           " cannot be chosen at run time: that is done for "
                           "x86 only"));
}

}  // namespace tessera::codegen
